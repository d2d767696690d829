/** The peer of reads on Bun: Hono and postgres.js, which prepares statements by itself. */
import { type Context, Hono } from "hono";
import postgres from "postgres";
import {
  type Answer,
  listDefinitions,
  type RunStatement,
  readDefinition,
  readModels,
  readProfile,
  resolveAlias,
} from "./read_work.ts";

const POOL_MAX = 10;

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: POOL_MAX, onnotice: () => {} });
const run: RunStatement = ({ text }, values) =>
  sql.unsafe(text, values as postgres.ParameterOrJSON<never>[], { prepare: true });

const app = new Hono();

function send(context: Context, { status, body }: Answer): Response {
  return context.json(body, status);
}

/** A number of the query; `undefined` when it is not there. */
function count(context: Context, name: string): number | undefined {
  const text = context.req.query(name);
  return text === undefined ? undefined : Number(text);
}

app.get("/health/ready", (context) => context.json({ data: { status: "ready" } }));

app.get("/api/v1/users/:id", async (context) => {
  const given = { id: context.req.param("id"), authorization: context.req.header("authorization") };
  return send(context, await readProfile(run, given));
});

app.get("/api/v1/models", async (context) => {
  const search = context.req.query("search");
  return send(
    context,
    await readModels(run, { limit: count(context, "limit"), offset: count(context, "offset"), search }),
  );
});

app.get("/api/v1/models/resolve/:alias", async (context) =>
  send(context, await resolveAlias(run, context.req.param("alias"))),
);

app.get("/api/v1/definitions", async (context) =>
  send(context, await listDefinitions(run, context.req.query("search"))),
);

app.get("/api/v1/definitions/:type/:name", async (context) =>
  send(context, await readDefinition(run, context.req.param())),
);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["PORT"]),
  fetch: app.fetch,
  development: false,
  reusePort: false,
});
