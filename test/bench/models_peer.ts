/**
 * What the catalogue is measured against: a server on Fastify and node-postgres that asks the database for every
 * request, with prepared statements and compiled serializers. It runs on Node.js.
 */
import Fastify from "fastify";
import pg from "pg";

const ITEM_COLUMNS = `m.provider, m.model_id as "modelId", m.name, m.family, m.tier, m.status,
  json_build_object('vision', m.has_vision, 'tools', m.has_tools, 'streaming', m.has_streaming,
    'reasoning', m.has_reasoning, 'structuredOutput', m.has_structured_output,
    'attachment', m.has_attachment) as capabilities,
  json_build_object('context', m.context_tokens, 'output', m.output_tokens) as limits,
  json_build_object('input', m.input_usd_per_mtok, 'output', m.output_usd_per_mtok,
    'cacheRead', m.cache_read_usd_per_mtok, 'cacheWrite', m.cache_write_usd_per_mtok) as cost,
  m.release_date::text as "releaseDate"`;

const LIST = {
  name: "list",
  text: `select ${ITEM_COLUMNS} from models m where m.removed_at is null order by m.provider, m.model_id limit $1 offset $2`,
};
const COUNT = { name: "count", text: "select count(*)::int as total from models where removed_at is null" };
const ALIASES = {
  name: "aliases",
  text: `select a.alias, a.provider, a.model_id as "modelId", a.scope, a.deprecated
    from model_aliases a
    join unnest($1::text[], $2::text[]) as k (provider, model_id) using (provider, model_id)`,
};
const RESOLVE = {
  name: "resolve",
  text: `select ${ITEM_COLUMNS}, m.description, m.model_id as "providerModelId",
      json_build_object('input', m.input_modalities, 'output', m.output_modalities) as modalities,
      m.knowledge_cutoff::text as "knowledgeCutoff", m.is_open_weights as "openWeights",
      (select max(finished_at) from catalog_syncs) as "syncedAt"
    from model_aliases a
    join models m on m.provider = a.provider and m.model_id = a.model_id
    where a.alias = $1`,
};

const TEXT = { type: "string" };
const TRUTH = { type: "boolean" };
const NUMBER = { type: "number", nullable: true };
const record = (properties: Record<string, object>) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });

const ITEM = {
  ...{ provider: TEXT, modelId: TEXT, name: TEXT, family: TEXT, tier: TEXT, status: TEXT, releaseDate: TEXT },
  capabilities: record({
    ...{ vision: TRUTH, tools: TRUTH, streaming: TRUTH, reasoning: TRUTH },
    ...{ structuredOutput: TRUTH, attachment: TRUTH },
  }),
  limits: record({ context: NUMBER, output: NUMBER }),
  cost: record({ input: NUMBER, output: NUMBER, cacheRead: NUMBER, cacheWrite: NUMBER }),
};
const MODEL = record({
  ...ITEM,
  ...{ description: TEXT, providerModelId: TEXT, knowledgeCutoff: TEXT, openWeights: TRUTH, syncedAt: TEXT },
  modalities: record({ input: list(TEXT), output: list(TEXT) }),
});
const ALIAS = record({ alias: TEXT, provider: TEXT, modelId: TEXT, scope: TEXT, deprecated: TRUTH });
const LIST_SCHEMA = record({
  data: record({
    ...{ models: list(record(ITEM)), aliases: list(ALIAS) },
    ...{ total: NUMBER, limit: NUMBER, offset: NUMBER, hasMore: TRUTH },
  }),
});
const RESOLVE_SCHEMA = record({ data: record({ alias: TEXT, target: TEXT, model: MODEL }) });

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });
const app = Fastify();

app.get<{ Querystring: { limit?: number; offset?: number } }>(
  "/api/v1/models",
  {
    schema: {
      querystring: record({ limit: { type: "integer" }, offset: { type: "integer" } }),
      response: { 200: LIST_SCHEMA },
    },
  },
  async ({ query: { limit = 50, offset = 0 } }) => {
    const [{ rows: models }, { rows: counted }] = await Promise.all([
      pool.query({ ...LIST, values: [limit, offset] }),
      pool.query(COUNT),
    ]);
    const keys = [models.map(({ provider }) => provider), models.map(({ modelId }) => modelId)];
    const { rows: aliases } = await pool.query({ ...ALIASES, values: keys });
    const { total } = counted[0];
    return { data: { models, aliases, total, limit, offset, hasMore: offset + models.length < total } };
  },
);

app.get<{ Params: { alias: string } }>(
  "/api/v1/models/resolve/:alias",
  { schema: { response: { 200: RESOLVE_SCHEMA } } },
  async ({ params: { alias } }, reply) => {
    const { rows } = await pool.query({ ...RESOLVE, values: [alias] });
    const [model] = rows;
    if (!model) return reply.code(404).send({ error: { code: "NOT_FOUND" } });
    return { data: { alias, target: `${model.provider}/${model.modelId}`, model } };
  },
);

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
process.stdout.write("listening\n");
