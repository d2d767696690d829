/** The peer for reads on Node.js: Fastify with compiled serializers, and node-postgres. */
import { createHash } from "node:crypto";
import Fastify, { type FastifyReply } from "fastify";
import pg from "pg";
import {
  ALIASES,
  MODEL_COUNT,
  MODEL_COUNT_NAMED,
  MODELS,
  MODELS_NAMED,
  RESOLVE,
  type Statement,
} from "./statements.ts";

/** A statement of the service, recorded by `recordStatements`. */
export interface RecordedStatement {
  text: string;
  values: readonly unknown[];
}

const TEXT = { type: "string", nullable: true };
const TRUTH = { type: "boolean" };
const NUMBER = { type: "number", nullable: true };
const record = (properties: Record<string, object>) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });

/** Returns properties with these names, all with the same schema. */
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

// biome-ignore lint/suspicious/noExplicitAny: the columns depend on the statement; drivers use the same type
type Row = Record<string, any>;

/** Runs a statement with the server's driver. */
export type RunStatement = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** The status and body of a response. The server adds headers. */
export interface Answer {
  status: 200 | 404;
  body: object;
}

const PAGE_SIZE = 50;
const NOT_FOUND: Answer = { status: 404, body: { error: { code: "NOT_FOUND" } } };

/** Reads a page of the catalog with the aliases of its models. */
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

/** Returns the model of an alias. */
export async function resolveAlias(run: RunStatement, alias: string): Promise<Answer> {
  const [model] = await run(RESOLVE, [alias]);
  if (!model) return NOT_FOUND;
  const target = `${model["provider"]}/${model["modelId"]}`;
  return { status: 200, body: { data: { alias, target, model } } };
}

const POOL_MAX = 10;

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: POOL_MAX });
const run: RunStatement = async (statement, values) =>
  (await pool.query({ ...statement, values: [...values] })).rows;

/** The recorded statements by path. Statements with parameters are prepared under a name. */
const recorded = new Map(
  Object.entries<RecordedStatement[]>(JSON.parse(process.env["STATEMENTS"] ?? "{}")).map(
    ([path, statements], read) => [
      path,
      statements.map(({ text, values }, number) =>
        values.length === 0 ? { text } : { text, values: values.map(toParameter), name: `${read}_${number}` },
      ),
    ],
  ),
);

/** Restores the hash of a key, which JSON has turned into an object. */
function toParameter(value: unknown): unknown {
  const isBytes = typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
  return isBytes ? Buffer.from(value as unknown as Uint8Array) : value;
}

/** Runs the statements of a path one after another on one connection; returns the rows of each. */
async function replay(path: string): Promise<Row[][]> {
  const client = await pool.connect();
  try {
    const all: Row[][] = [];
    for (const statement of recorded.get(path) ?? []) all.push((await client.query(statement)).rows);
    return all;
  } finally {
    client.release();
  }
}

const app = Fastify();

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  return reply.code(status).send(body);
}

/** Sends JSON from PostgreSQL with the same `ETag` as the service. */
function sendText(reply: FastifyReply, text: string): FastifyReply {
  const etag = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return reply.header("etag", `"${etag}"`).type("application/json").send(text);
}

app.get("/health/ready", async () => ({ data: { status: "ready" } }));

app.get(
  "/api/v1/users/:id",
  { schema: { response: { 200: PROFILE_SCHEMA } } },
  async ({ url, headers: { authorization = "" } }, reply) => {
    if (!authorization.startsWith("Bearer ")) return send(reply, NOT_FOUND);
    const [callers = [], [row] = []] = await replay(url);
    if (callers.length === 0 || !row) return send(reply, NOT_FOUND);
    const { website_url: websiteUrl, avatar_mime_type: avatarMimeType } = row;
    return send(reply, { status: 200, body: { data: { ...row, websiteUrl, avatarMimeType } } });
  },
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

app.get("/api/v1/definitions", { schema: { querystring: PAGE_QUERY } }, async ({ url }, reply) => {
  const [row] = (await replay(url)).at(-2) ?? [];
  const total = Number(row?.["total"]);
  const page = JSON.stringify({ total, limit: PAGE_SIZE, offset: 0, hasMore: PAGE_SIZE < total });
  return sendText(reply, `{"data":{"definitions":[${row?.["items"]}],${page.slice(1)}}`);
});

app.get("/api/v1/definitions/:type/:name", async ({ url }, reply) => {
  const [[row] = []] = await replay(url);
  return sendText(reply, `{"data":${row?.["json"]}}`);
});

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
