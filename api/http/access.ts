/** Declares, on every route, who may call it, and hands the handler its caller. A route without it cannot be built. */
import { Elysia } from "elysia";
import { unauthorized } from "./authenticate.ts";
import type { Caller } from "./caller.ts";
import { requestContext } from "./request_context.ts";

/** `public`: no credential needed. `caller`: any valid credential. `session`: a session, no API key. */
export type Access = "public" | "caller" | "session";

/**
 * The field of a route's `detail` that holds its access, for the request pipeline, the tests and the OpenAPI document.
 */
export const ACCESS_FIELD = "x-access";

/** The field of a route that ignores the session cookie. */
export const PAST_COOKIE_FIELD = "x-past-cookie";

/** The field of a route that only reads, whatever its method. */
export const READS_FIELD = "x-reads";

/** Goes into a route's `detail`: the POST is a query that is too long for a URL. */
export function onlyReads(): object {
  return { [READS_FIELD]: true };
}

/** The field of a route whose request or response holds a secret. */
export const SECRET_FIELD = "x-secret";

/** The field of a route outside /api/v1 without a rate limit. */
export const NOT_COUNTED_FIELD = "x-not-counted";

/** Goes into a route's `detail`. Responses from memory cost no more than a 429, and probes must never get one. */
export function notCounted(): object {
  return { [NOT_COUNTED_FIELD]: true };
}

/** Returns `object` because Elysia's type of `detail` allows OpenAPI fields only. */
function declare(level: Access): object {
  return { [ACCESS_FIELD]: level };
}

/** Returns the caller. Throws for anonymous callers, although the request pipeline has already rejected them. */
function callerOf(request: Request): Caller {
  const { caller } = requestContext(request);
  if (!caller) throw unauthorized();
  return caller;
}

/**
 * Every route needs one of the two: `access: "caller"` or `"session"` puts `caller: Caller` into the handler's context,
 * `publicAccess: true` puts `visitor: Caller | null`.
 */
export const access = new Elysia({ name: "access" }).macro({
  access: (level: Exclude<Access, "public">) => ({
    detail: declare(level),
    resolve: ({ request }: { request: Request }) => ({ caller: callerOf(request) }),
  }),
  publicAccess: (_: true) => ({
    detail: declare("public"),
    resolve: ({ request }: { request: Request }) => ({ visitor: requestContext(request).caller }),
  }),
});
