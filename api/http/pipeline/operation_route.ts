/** Creates the route of an operation. It reads the parameters, calls the handler, and turns the reply into a response. */
import { createHash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { maxBodyBytes } from "../body/request_body.ts";
import { bytesResponse } from "../bytes_response.ts";
import type { AnyOperation, FileBody, OperationDeps, ReplyOptions } from "../operation.ts";
import { parseQuery } from "../query.ts";
import { type RequestContext, requestContext } from "../request_context.ts";
import { isKnownTag } from "../response/content_encoding.ts";
import type { Route } from "../route.ts";
import { createBodyCheck, createSchemaCheck, NO_FIELDS, rejectProblems } from "../validation_problems.ts";

interface AnyReply extends ReplyOptions {
  status: number;
  body: unknown;
}

export function toOperationRoute(operation: AnyOperation, deps: OperationDeps): Route {
  const { method, body = NO_FIELDS, uncheckedBody, reads = false } = operation;
  const checkParams = createParamsCheck(operation);
  return {
    ...operation,
    pattern: toPattern(operation.path),
    isPage: false,
    maxBodyBytes: operation.maxBodyBytes ?? maxBodyBytes(operation.path),
    writes: method !== "GET" && !reads,
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

/** Converts a path template to a router pattern. */
function toPattern(path: string): string {
  return path.replace(/\{\+\w+\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Creates a function that returns the path parameters. It throws VALIDATION_ERROR if a parameter is invalid. */
function createParamsCheck({ path, params: properties }: AnyOperation) {
  const [, rest] = /\{\+(\w+)\}$/.exec(path) ?? [];
  const check = createSchemaCheck(Type.Object(properties ?? {}));
  return ({ "*": encoded = "", ...given }: Readonly<Record<string, string>>) => {
    // Elysia decodes a parameter, but not the rest of a path.
    const params = rest === undefined ? given : { ...given, [rest]: decodeURIComponent(encoded) };
    rejectProblems(check(params));
    return params;
  };
}

function toResponse(operation: AnyOperation, context: RequestContext, reply: AnyReply): Response {
  const { status, headers } = reply;
  if (operation.conditional && status === 200) return toConditionalResponse(operation, context, reply);
  const { body, type } = toContent(reply);
  return respond(body, { status, headers: { ...type, ...headers } });
}

/** Caches may store the content but must revalidate it. Shared caches must not store content that depends on the caller. */
function toConditionalResponse(
  { usesOrg }: AnyOperation,
  { request, caller }: RequestContext,
  reply: AnyReply,
): Response {
  const tagged = reply.etag === undefined ? toContent(reply) : null;
  const etag = tagged ? tagOf(tagged.body) : (reply.etag ?? "");
  const { Vary: own = [], ...given } = reply.headers ?? {};
  const vary = [own, usesOrg ? "Authorization, Cookie, X-Org-Slug" : []].flat();
  const validators = {
    ETag: etag,
    "Cache-Control": given["Cache-Control"] ?? `${caller ? "private" : "public"}, no-cache`,
    ...(vary.length > 0 ? { Vary: vary.join(", ") } : {}),
  };
  if (isKnownTag(request, etag)) {
    // Browsers replace stored headers with those of a 304, including the Content-Security-Policy of a page.
    const others = Object.entries(given).filter(
      ([name]) => !name.startsWith("Content-") || name === "Content-Security-Policy",
    );
    return new Response(null, { status: 304, headers: { ...Object.fromEntries(others), ...validators } });
  }
  const { body, type } = tagged ?? toContent(reply);
  return respond(body, { status: reply.status, headers: { ...type, ...validators, ...given } });
}

function respond(body: Body, init: ResponseInit): Response {
  return body instanceof Uint8Array ? bytesResponse(body, init) : new Response(body, init);
}

function tagOf(body: Body): string {
  if (!(body instanceof Uint8Array)) throw new Error("Cannot tag a response: its body is a stream or a file");
  return `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
}

type Body = Exclude<FileBody, string> | null;

const ENCODER = new TextEncoder();

/** Returns the body of a reply, with text as bytes, and its default content type. */
function toContent({ body: given }: AnyReply): { body: Body; type: Record<string, string> } {
  const body = typeof given === "function" ? given() : given;
  if (body === null || body instanceof ReadableStream || body instanceof Blob) return { body, type: {} };
  const content = isContent(body) ? body : JSON.stringify(body);
  return {
    body: typeof content === "string" ? ENCODER.encode(content) : content,
    // The headers of a file's reply override this type.
    type: { "Content-Type": "application/json" },
  };
}

function isContent(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}
