/** The peer of reads on Node.js: Fastify with compiled serializers, and node-postgres. */
import { createHash } from "node:crypto";
import Fastify, { type FastifyReply } from "fastify";
import pg from "pg";
import {
  ALIASES,
  CALLER,
  DEFINITION,
  LIST,
  LIST_COUNT,
  MODEL_COUNT,
  MODEL_COUNT_NAMED,
  MODELS,
  MODELS_NAMED,
  PROFILE,
  RESOLVE,
  SEARCH,
  SEARCH_COUNT,
  type Statement,
} from "./statements.ts";

const TEXT = { type: "string", nullable: true };
const TRUTH = { type: "boolean" };
const NUMBER = { type: "number", nullable: true };
/** JSON of any shape, written unchanged. */
const ANY = {};
const record = (properties: Record<string, object>) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });

/** The same schema for every name. */
function each(schema: object, ...names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

const PAGE = { ...each(NUMBER, "total", "limit", "offset"), hasMore: TRUTH };

export const PROFILE_SCHEMA = record({
  data: record(each(TEXT, "id", "username", "name", "bio", "websiteUrl", "avatar", "avatarMimeType")),
});

const MODEL_ITEM = {
  ...each(TEXT, "provider", "modelId", "name", "family", "tier", "status", "releaseDate"),
  capabilities: record(
    each(TRUTH, "vision", "tools", "streaming", "reasoning", "structuredOutput", "attachment"),
  ),
  limits: record(each(NUMBER, "context", "output")),
  cost: record(each(NUMBER, "input", "output", "cacheRead", "cacheWrite")),
};
const ALIAS = record({ ...each(TEXT, "alias", "provider", "modelId", "scope"), deprecated: TRUTH });
export const MODELS_SCHEMA = record({
  data: record({ models: list(record(MODEL_ITEM)), aliases: list(ALIAS), ...PAGE }),
});
const MODEL = record({
  ...MODEL_ITEM,
  ...each(TEXT, "description", "providerModelId", "knowledgeCutoff", "syncedAt"),
  openWeights: TRUTH,
  modalities: record(each(list(TEXT), "input", "output")),
});
export const RESOLVE_SCHEMA = record({ data: record({ ...each(TEXT, "alias", "target"), model: MODEL }) });

const DEFINITION_ITEM = {
  ...each(TEXT, "id", "type", "name", "version", "status", "domain", "subdomain", "agentType", "displayName"),
  ...each(TEXT, "description", "author", "authorshipType", "authorId", "orgId", "tier", "visibility"),
  ...each(TEXT, "createdAt", "updatedAt", "publishedAt", "forkedFromId", "namespace", "releasedAt"),
  ...each(NUMBER, "executionCount", "uniqueExecutionCount", "forkCount", "starCount"),
  tags: list(TEXT),
};
export const DEFINITIONS_SCHEMA = record({
  data: record({ definitions: list(record(DEFINITION_ITEM)), ...PAGE }),
});
export const DEFINITION_SCHEMA = record({
  data: record({
    ...DEFINITION_ITEM,
    ...each(TEXT, "yaml", "hash", "runtimeMd", "promptHash", "translatorVersion", "deprecatedAt"),
    ...each(TEXT, "deprecationReason", "successor"),
    ...each(ANY, "provenance", "translationError", "riskProfile"),
  }),
});

// biome-ignore lint/suspicious/noExplicitAny: rows are as the statement has them, as drivers say too
type Row = Record<string, any>;

/** Runs a statement with the server's driver. */
export type RunStatement = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** The response, to which a server adds headers. */
export interface Answer {
  status: 200 | 401 | 404;
  body: object;
}

const PAGE_SIZE = 50;
const NOT_FOUND: Answer = { status: 404, body: { error: { code: "NOT_FOUND" } } };

/** A user, for callers with a valid key. */
export async function readProfile(
  run: RunStatement,
  { id, authorization = "" }: { id: string; authorization?: string | undefined },
): Promise<Answer> {
  const [, secret = ""] = /^Bearer (ulr_[\w-]+)$/.exec(authorization) ?? [];
  const hash = createHash("sha256").update(secret).digest();
  const [caller] = await run(CALLER, [hash]);
  if (!caller) return { status: 401, body: { error: { code: "UNAUTHORIZED" } } };
  const [row] = await run(PROFILE, [id]);
  return row ? { status: 200, body: { data: row } } : NOT_FOUND;
}

/** A page of the catalog with the aliases of its models. */
export async function readModels(
  run: RunStatement,
  page: { limit?: number | undefined; offset?: number | undefined; search?: string | undefined },
): Promise<Answer> {
  const { limit = PAGE_SIZE, offset = 0, search } = page;
  const pattern = search === undefined ? [] : [`%${search}%`];
  const [models, [counted]] = await Promise.all([
    run(search === undefined ? MODELS : MODELS_NAMED, [limit, offset, ...pattern]),
    run(search === undefined ? MODEL_COUNT : MODEL_COUNT_NAMED, pattern),
  ]);
  const keys = [models.map(({ provider }) => provider), models.map(({ modelId }) => modelId)];
  const aliases = await run(ALIASES, keys);
  const total: number = counted?.["total"];
  const hasMore = offset + models.length < total;
  return { status: 200, body: { data: { models, aliases, total, limit, offset, hasMore } } };
}

/** The model behind an alias. */
export async function resolveAlias(run: RunStatement, alias: string): Promise<Answer> {
  const [model] = await run(RESOLVE, [alias]);
  if (!model) return NOT_FOUND;
  const target = `${model["provider"]}/${model["modelId"]}`;
  return { status: 200, body: { data: { alias, target, model } } };
}

/** The latest published version of a definition, complete. */
export async function readDefinition(
  run: RunStatement,
  { type, name }: { type: string; name: string },
): Promise<Answer> {
  const [row] = await run(DEFINITION, [type, name]);
  return row ? { status: 200, body: { data: row } } : NOT_FOUND;
}

/** The first page of the registry, or of a search. */
export async function listDefinitions(run: RunStatement, search: string | undefined): Promise<Answer> {
  const words = search === undefined ? [] : [search];
  const [definitions, [counted]] = await Promise.all([
    run(search === undefined ? LIST : SEARCH, [PAGE_SIZE, ...words]),
    run(search === undefined ? LIST_COUNT : SEARCH_COUNT, words),
  ]);
  const total: number = counted?.["total"];
  const page = { limit: PAGE_SIZE, offset: 0, hasMore: definitions.length < total };
  return { status: 200, body: { data: { definitions, total, ...page } } };
}

const POOL_MAX = 10;

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: POOL_MAX });
const run: RunStatement = async (statement, values) =>
  (await pool.query({ ...statement, values: [...values] })).rows;

const app = Fastify();

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  return reply.code(status).send(body);
}

app.get("/health/ready", async () => ({ data: { status: "ready" } }));

app.get<{ Params: { id: string } }>(
  "/api/v1/users/:id",
  { schema: { response: { 200: PROFILE_SCHEMA } } },
  async ({ params: { id }, headers: { authorization } }, reply) =>
    send(reply, await readProfile(run, { id, authorization })),
);

const PAGE_QUERY = {
  type: "object",
  properties: { limit: { type: "integer" }, offset: { type: "integer" }, search: { type: "string" } },
};
app.get<{ Querystring: { limit?: number; offset?: number; search?: string } }>(
  "/api/v1/models",
  { schema: { querystring: PAGE_QUERY, response: { 200: MODELS_SCHEMA } } },
  async ({ query }, reply) => send(reply, await readModels(run, query)),
);

app.get<{ Params: { alias: string } }>(
  "/api/v1/models/resolve/:alias",
  { schema: { response: { 200: RESOLVE_SCHEMA } } },
  async ({ params: { alias } }, reply) => send(reply, await resolveAlias(run, alias)),
);

app.get<{ Querystring: { search?: string } }>(
  "/api/v1/definitions",
  { schema: { querystring: PAGE_QUERY, response: { 200: DEFINITIONS_SCHEMA } } },
  async ({ query: { search } }, reply) => send(reply, await listDefinitions(run, search)),
);

app.get<{ Params: { type: string; name: string } }>(
  "/api/v1/definitions/:type/:name",
  { schema: { response: { 200: DEFINITION_SCHEMA } } },
  async ({ params }, reply) => send(reply, await readDefinition(run, params)),
);

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
