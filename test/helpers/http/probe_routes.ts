/** Routes for tests of the request pipeline: one for each thing that a route can do. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { access } from "../../../api/http/access.ts";
import { resolveOrg } from "../../../api/http/organization.ts";
import { announceStream, requestContext } from "../../../api/http/request_context.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

const NewThing = t.Object(
  {
    name: t.String({ minLength: 1 }),
    size: Type.Integer({ minimum: 0 }),
    kind: t.Optional(t.Union([t.Literal("round"), t.Literal("flat")])),
    tags: t.Optional(
      t.Array(t.Object({ label: t.String() }, { additionalProperties: false }), { maxItems: 10 }),
    ),
  },
  { additionalProperties: false },
);
const ListQuery = t.Object(
  { format: t.Optional(t.Union([t.Literal("ndjson"), t.Literal("csv")])), limit: t.Optional(t.Numeric()) },
  { additionalProperties: false },
);

/** What happened to the requested streams, in order. */
export interface StreamReport {
  cancelled: number;
}

/** Ten chunks of ten bytes; `fail` throws after three, `endless` never ends. */
function streamBody(
  mode: string,
  report: StreamReport,
  end: ReturnType<typeof announceStream>,
): ReadableStream {
  let chunks = 0;
  return new ReadableStream({
    async pull(controller) {
      // Waits for a turn of the event loop, so that an endless stream does not block others.
      await new Promise(setImmediate);
      if (mode === "fail" && chunks === 3) {
        const error = new Error("Cannot read on: the source broke");
        end({ outcome: "failed", bytes: chunks * 10, error });
        throw error;
      }
      if (mode !== "endless" && chunks === 10) {
        end({ outcome: "complete", bytes: chunks * 10 });
        controller.close();
        return;
      }
      chunks += 1;
      controller.enqueue(new TextEncoder().encode("123456789\n"));
    },
    cancel() {
      report.cancelled += 1;
      end({ outcome: "aborted", bytes: chunks * 10 });
    },
  });
}

export interface ProbeOptions {
  /** Used by the route that resolves an organization. */
  sql?: () => Pool;
  streams?: StreamReport;
  /** GET /api/v1/wait answers when this settles. */
  wait?: Promise<void>;
}

export function probeRoutes(options: ProbeOptions = {}) {
  const { streams = { cancelled: 0 }, wait = Promise.resolve() } = options;
  return new Elysia({ prefix: "/api/v1" })
    .use(access)
    .get("/echo/:name", ({ params }) => ({ data: params }), { publicAccess: true })
    .get("/@:org/things/:name", ({ params }) => ({ data: params }), { publicAccess: true })
    .get("/visitor", ({ visitor }) => ({ data: { userId: visitor?.userId ?? null } }), { publicAccess: true })
    .get("/caller", ({ caller }) => ({ data: caller }), { access: "caller" })
    .get("/org", async ({ caller, request }) => resolveOrg(poolOf(options), caller, request), {
      access: "caller",
    })
    .post("/things", ({ body }) => ({ data: body }), { access: "caller", body: NewThing })
    .get("/things", ({ query }) => ({ data: query }), { publicAccess: true, query: ListQuery })
    .post("/things/publish", ({ body }) => ({ data: body }), {
      access: "caller",
      body: t.Optional(t.Object({ force: t.Optional(t.Boolean()) }, { additionalProperties: false })),
    })
    .delete("/things", () => ({ data: { deleted: true } }), { access: "caller" })
    .get("/wait", () => wait.then(() => ({ data: "waited" })), { publicAccess: true })
    .get(
      "/noted",
      ({ request }) => {
        requestContext(request).fields["rows"] = 7;
        return new Response("kept", {
          headers: { "Cache-Control": "private, max-age=60", Vary: "X-Org-Slug" },
        });
      },
      { publicAccess: true },
    )
    .get(
      "/stream/:mode",
      ({ params, request }) =>
        new Response(streamBody(params.mode, streams, announceStream(request)), {
          headers: { "Content-Type": "application/x-ndjson", "X-Export-Total-Rows": "10" },
        }),
      { publicAccess: true },
    );
}

function poolOf({ sql }: ProbeOptions): Pool {
  if (!sql) throw new Error("Cannot resolve an organization: the probe has no pool");
  return sql();
}

/** Routes that fail, each in another way. */
export function failingRoutes(fail: { databaseAway: () => Promise<unknown> }) {
  return new Elysia({ prefix: "/api/v1" })
    .use(access)
    .get(
      "/bug",
      () => {
        throw new Error("the row of secret@example.com broke /srv/app/main.ts");
      },
      { publicAccess: true },
    )
    .get("/thrown-text", () => Promise.reject("only text"), { publicAccess: true })
    .get("/bigint", () => ({ data: 1n }), { publicAccess: true })
    .get("/database-away", () => fail.databaseAway(), { publicAccess: true })
    .get("/wrong-answer", () => ({ data: "text" }) as never, {
      publicAccess: true,
      response: { 200: t.Object({ data: t.Number() }) },
    })
    .get(
      "/announced",
      ({ request }) => {
        announceStream(request);
        throw new Error("broke before the first byte");
      },
      { publicAccess: true },
    );
}
