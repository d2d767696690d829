/** A route serves the requests of one method and path pattern. */
import type { Query } from "./query.ts";

/** The path prefix of the API. All other routes are pages and files. */
export const API_PREFIX = "/api/v1";

export type JsonObject = Readonly<Record<string, unknown>>;

/** `public`: no credential needed. `caller`: any valid credential. `session`: a session, not an API key. */
export type Access = "public" | "caller" | "session";

/** Options that most routes leave unset. */
export interface RouteOptions {
  /** Query parameters that set the other fields for a YAML body. The body itself becomes the field `yaml`. */
  yamlQuery?: Query;
  /** Sends a file, without a time limit and without an idle timeout. */
  download?: true;
  /** The request or response contains a secret, so no successful response is stored for repeated requests. */
  secret?: true;
  /** Ignores the session cookie. Browsers also send expired cookies, which must not block a new sign-in. */
  ignoresCookie?: true;
  /** Has no rate limit. Allowed only outside /api/v1. */
  unlimited?: true;
}

export interface Route extends RouteOptions {
  method: string;
  /** The path pattern of routers, logs and metrics: `/api/v1/models/:provider/*`. */
  pattern: string;
  access: Access;
  /** True for a page, whose request bodies are our own forms; false for the API. */
  isPage: boolean;
  maxBodyBytes: number;
  /** True if a request may write. */
  writes: boolean;
  /** Throws VALIDATION_ERROR for a body that violates the schema; null if the route checks the body itself. */
  checkBody: ((body: JsonObject) => void) | null;
  /** Returns the response. Access and body have been checked. */
  respond(request: Request, params: Readonly<Record<string, string>>): Promise<Response>;
}

const ORG_AND_NAME = /^(\/api\/v1\/definitions\/[^/]+\/@(?:(?!%2f)[^/])+)\/([^/]+)/i;

/**
 * Returns the path for route matching: without a trailing slash, `@` for `%40`, and `@org%2Fname` for `@org/name`. The encoded
 * slash makes the name one parameter in every definition route.
 */
export function canonicalPath(path: string): string {
  const unslashed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return unslashed.replaceAll("%40", "@").replace(ORG_AND_NAME, "$1%2F$2");
}
