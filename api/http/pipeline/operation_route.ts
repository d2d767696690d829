/** Makes the route of an operation: reads its parameters, calls it, and turns its reply into a response. */
import { createHash } from "node:crypto";
import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { maxBodyBytes } from "../body/request_body.ts";
import { createBodyCheck, NO_FIELDS } from "../body_schema.ts";
import type { AnyOperation, FileBody, OperationDeps, ReplyOptions } from "../operation.ts";
import { parseQuery } from "../query.ts";
import { type RequestContext, requestContext } from "../request_context.ts";
import { bytesResponse } from "../response/bytes_response.ts";
import { isKnownTag } from "../response/etag.ts";
import type { Route } from "../route.ts";
import { requireValid } from "../validation_problems.ts";

interface AnyReply extends ReplyOptions {
  status: number;
  body: unknown;
}

export function toOperationRoute(operation: AnyOperation, deps: OperationDeps): Route {
  const { method, body = NO_FIELDS, uncheckedBody, reads = false } = operation;
  const checkParams = createParamsCheck(operation);
  return {
    method,
    pattern: toPattern(operation.path),
    access: operation.access,
    ignoresCookie: operation.ignoresCookie ?? false,
    isUnlimited: operation.unlimited ?? false,
    isPage: false,
    maxBodyBytes: operation.maxBodyBytes ?? maxBodyBytes(operation.path),
    writes: method !== "GET" && !reads,
    yamlQuery: operation.yamlQuery ?? null,
    isDownload: operation.download ?? false,
    holdsSecret: operation.secret ?? false,
    checkBody: method === "GET" || uncheckedBody ? null : createBodyCheck(body),
    async respond(request, value) {
      const context = requestContext(request);
      const params = checkParams(value);
      const { query: declared = {}, yamlQuery, uncheckedQuery } = operation;
      const query = yamlQuery || uncheckedQuery ? {} : parseQuery(declared, context.url.searchParams);
      const input = { params, query, body: context.body, caller: context.caller, request };
      return toResponse(operation, context, await operation.handle(input, deps));
    },
  };
}

/** Returns the pattern of a path template, as routers write it. */
function toPattern(path: string): string {
  return path.replace(/\{\+\w+\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Returns a function that names the rest of the path, and throws VALIDATION_ERROR for invalid parameters. */
function createParamsCheck({ path, params: properties }: AnyOperation) {
  const [, rest] = /\{\+(\w+)\}$/.exec(path) ?? [];
  let check: TypeCheck<TSchema> | undefined;
  return ({ "*": encoded = "", ...given }: Readonly<Record<string, string>>) => {
    // Elysia decodes a parameter but not the rest of a path.
    const params = rest === undefined ? given : { ...given, [rest]: decodeURIComponent(encoded) };
    check ??= TypeCompiler.Compile(Type.Object(properties ?? {}));
    requireValid(check, params);
    return params;
  };
}

function toResponse(operation: AnyOperation, context: RequestContext, reply: AnyReply): Response {
  const { status, headers } = reply;
  if (operation.conditional && status === 200) return toConditionalResponse(operation, context, reply);
  const { body, type } = toContent(reply);
  return new Response(body, { status, headers: { ...type, ...headers } });
}

/** Caches may keep the content and must revalidate it; a shared one must not keep what depends on the caller. */
function toConditionalResponse(
  { usesOrg }: AnyOperation,
  { request, caller }: RequestContext,
  reply: AnyReply,
): Response {
  const tagged = reply.etag === undefined ? toTagged(toContent(reply)) : { etag: reply.etag };
  const { etag } = tagged;
  const vary = [reply.headers?.["Vary"] ?? [], usesOrg ? "Authorization, Cookie, X-Org-Slug" : []].flat();
  const validators = {
    ETag: etag,
    "Cache-Control": reply.headers?.["Cache-Control"] ?? `${caller ? "private" : "public"}, no-cache`,
    ...(vary.length > 0 ? { Vary: vary.join(", ") } : {}),
  };
  if (isKnownTag(request, etag)) {
    // Browsers replace the headers that they have stored by those of a 304, the policy of a page too.
    const others = Object.entries(reply.headers ?? {}).filter(
      ([name]) => !name.startsWith("Content-") || name === "Content-Security-Policy",
    );
    return new Response(null, { status: 304, headers: { ...Object.fromEntries(others), ...validators } });
  }
  const { body, type } = "body" in tagged ? tagged : toContent(reply);
  const headers = {
    ...type,
    ...validators,
    ...reply.headers,
    ...(vary.length > 0 ? { Vary: vary.join(", ") } : {}),
  };
  const init = { status: reply.status, headers };
  return body instanceof Uint8Array ? bytesResponse(body, init) : new Response(body, init);
}

const ENCODER = new TextEncoder();

/** Encodes a text once, for its tag and for the response. Bytes are sent as they are. */
function toTagged({ body: text, type }: ReturnType<typeof toContent>) {
  if (typeof text !== "string" && !(text instanceof Uint8Array))
    throw new Error("Cannot tag a response: its body is a stream or a file");
  const body = typeof text === "string" ? ENCODER.encode(text) : text;
  return { etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`, body, type };
}

/** Returns the body of a reply, and the content type unless the reply has another. */
function toContent({ body: given }: AnyReply): { body: FileBody | null; type: Record<string, string> } {
  const body = typeof given === "function" ? given() : given;
  if (body === null || body instanceof ReadableStream || body instanceof Blob) return { body, type: {} };
  // A file has another type among the reply's headers.
  return {
    body: isContent(body) ? body : JSON.stringify(body),
    type: { "Content-Type": "application/json" },
  };
}

function isContent(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}
