/** The peer of reads on Node.js: Fastify with compiled serializers, and node-postgres. */
import Fastify, { type FastifyReply } from "fastify";
import pg from "pg";
import {
  type Answer,
  listDefinitions,
  type RunStatement,
  readDefinition,
  readModels,
  readProfile,
  resolveAlias,
} from "./read_work.ts";
import {
  DEFINITION_SCHEMA,
  DEFINITIONS_SCHEMA,
  MODELS_SCHEMA,
  PROFILE_SCHEMA,
  RESOLVE_SCHEMA,
} from "./response_schemas.ts";

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

const PAGE = {
  type: "object",
  properties: { limit: { type: "integer" }, offset: { type: "integer" }, search: { type: "string" } },
};
app.get<{ Querystring: { limit?: number; offset?: number; search?: string } }>(
  "/api/v1/models",
  { schema: { querystring: PAGE, response: { 200: MODELS_SCHEMA } } },
  async ({ query }, reply) => send(reply, await readModels(run, query)),
);

app.get<{ Params: { alias: string } }>(
  "/api/v1/models/resolve/:alias",
  { schema: { response: { 200: RESOLVE_SCHEMA } } },
  async ({ params: { alias } }, reply) => send(reply, await resolveAlias(run, alias)),
);

app.get<{ Querystring: { search?: string } }>(
  "/api/v1/definitions",
  { schema: { querystring: PAGE, response: { 200: DEFINITIONS_SCHEMA } } },
  async ({ query: { search } }, reply) => send(reply, await listDefinitions(run, search)),
);

app.get<{ Params: { type: string; name: string } }>(
  "/api/v1/definitions/:type/:name",
  { schema: { response: { 200: DEFINITION_SCHEMA } } },
  async ({ params }, reply) => send(reply, await readDefinition(run, params)),
);

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
