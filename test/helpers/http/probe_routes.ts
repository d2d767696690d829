/** Routes for tests of the request pipeline, one for each feature of a route. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { Caller } from "../../../api/http/caller.ts";
import {
  type AnyOperation,
  type Method,
  operation,
  type ReplyOptions,
  reply,
} from "../../../api/http/operation.ts";
import { choice, integer, type Query } from "../../../api/http/query.ts";
import { announceStream, requestContext } from "../../../api/http/request_context.ts";
import { resolveOrg } from "../../../api/http/resolve_org.ts";
import type { Access } from "../../../api/http/route.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

const NewThing = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    size: Type.Integer({ minimum: 0 }),
    kind: Type.Optional(Type.Union([Type.Literal("round"), Type.Literal("flat")])),
    tags: Type.Optional(
      Type.Array(Type.Object({ label: Type.String() }, { additionalProperties: false }), { maxItems: 10 }),
    ),
  },
  { additionalProperties: false },
);
const LIST_QUERY = {
  format: choice(["ndjson", "csv"], "Format"),
  limit: integer({ min: 1, max: 100, unset: null }, "Page size"),
};

interface ProbeInput {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  caller: Caller | null;
  request: Request;
}

interface ProbeDeclaration {
  access?: Access;
  params?: readonly string[];
  query?: Query;
  body?: TSchema;
  conditional?: true;
}

type ProbeReply = ReplyOptions & { status: 200; body: unknown };

/** Creates a test's operation, public unless `access` is given. `path` is the full path. */
export function probe(
  method: Method,
  path: string,
  handle: (input: ProbeInput) => ProbeReply | Promise<ProbeReply>,
  { access = "public", params = [], ...more }: ProbeDeclaration = {},
): AnyOperation {
  const text = Type.String({ description: "Any text", examples: ["a"] });
  return operation(
    {
      id: `${method} ${path}`,
      method,
      path,
      access,
      tag: "Operations",
      summary: "Probe",
      description: "For a test.",
      params: Object.fromEntries(params.map((name) => [name, text])),
      response: { 200: Type.Unknown() },
      ...more,
    },
    async (input) => (await handle(input)) as never,
  );
}

/** Returns a reply with `value` as its `data`. */
export function data(value: unknown): ProbeReply {
  return reply(200, { data: value });
}

/** Counts the canceled streams. */
export interface StreamReport {
  cancelled: number;
}

/** Creates a stream of ten chunks of ten bytes. The mode `fail` throws after three chunks; the mode `endless` never ends. */
function streamBody(
  mode: string,
  report: StreamReport,
  end: ReturnType<typeof announceStream>,
): ReadableStream {
  let chunks = 0;
  return new ReadableStream({
    async pull(controller) {
      // Waits for the next turn of the event loop, so that an endless stream does not block other requests.
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
  /** Returns the pool for the route that resolves an organization. */
  sql?: () => Pool;
  streams?: StreamReport;
  /** `GET /api/v1/wait` responds when this promise settles. */
  wait?: Promise<void>;
}

export function probeRoutes(options: ProbeOptions = {}): AnyOperation[] {
  const { streams = { cancelled: 0 }, wait = Promise.resolve() } = options;
  const caller = { access: "caller" } as const;
  const force = Type.Object({ force: Type.Optional(Type.Boolean()) }, { additionalProperties: false });
  return [
    probe("GET", "/api/v1/echo/{name}", ({ params }) => data(params), { params: ["name"] }),
    probe("GET", "/api/v1/@{org}/things/{name}", ({ params }) => data(params), { params: ["org", "name"] }),
    probe("GET", "/api/v1/visitor", (input) => data({ userId: input.caller?.userId ?? null })),
    probe("GET", "/api/v1/caller", (input) => data(input.caller), caller),
    probe("GET", "/api/v1/org", (input) => replyOrg(options, input), caller),
    probe("POST", "/api/v1/things", ({ body }) => data(body), { ...caller, body: NewThing }),
    probe("GET", "/api/v1/things", ({ query }) => data(givenOf(query)), { query: LIST_QUERY }),
    probe("POST", "/api/v1/things/publish", ({ body }) => data(body), { ...caller, body: force }),
    probe("DELETE", "/api/v1/things", () => data({ deleted: true }), caller),
    probe("GET", "/api/v1/wait", () => wait.then(() => data("waited"))),
    probe("GET", "/api/v1/noted", ({ request }) => {
      requestContext(request).fields["rows"] = 7;
      const headers = { "Cache-Control": "private, max-age=60", Vary: "X-Org-Slug" };
      return reply(200, "kept", { headers: { ...headers, "Content-Type": "text/plain;charset=utf-8" } });
    }),
    probe("GET", "/api/v1/stream/{mode}", (input) => replyStream(streams, input), { params: ["mode"] }),
  ];
}

async function replyOrg(options: ProbeOptions, { caller, request }: ProbeInput): Promise<ProbeReply> {
  if (!caller) throw new Error("Cannot resolve an organization: nobody calls");
  return reply(200, await resolveOrg(poolOf(options), caller, request));
}

function replyStream(streams: StreamReport, { params, request }: ProbeInput): ProbeReply {
  const body = streamBody(params["mode"] ?? "", streams, announceStream(request));
  const headers = { "Content-Type": "application/x-ndjson", "X-Export-Total-Rows": "10" };
  return reply(200, body, { headers });
}

/** Returns the parameters that the request contains. */
function givenOf(query: ProbeInput["query"]): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null));
}

function poolOf({ sql }: ProbeOptions): Pool {
  if (!sql) throw new Error("Cannot resolve an organization: the probe has no pool");
  return sql();
}

/** Returns routes that each fail in a different way. */
export function failingRoutes(fail: { databaseAway: () => Promise<unknown> }): AnyOperation[] {
  return [
    probe("GET", "/api/v1/bug", () => {
      throw new Error("the row of secret@example.com broke /srv/app/main.ts");
    }),
    probe("GET", "/api/v1/thrown-text", () => Promise.reject("only text")),
    probe("GET", "/api/v1/bigint", () => data(1n)),
    probe("GET", "/api/v1/database-away", async () => data(await fail.databaseAway())),
    probe("GET", "/api/v1/announced", ({ request }) => {
      announceStream(request);
      throw new Error("broke before the first byte");
    }),
  ];
}
