/** A route: the requests of one method and path pattern, and what serves them. */
import type { Query } from "./query.ts";

/** Routes below it are the API; others are pages and files. */
export const API_PREFIX = "/api/v1";

export type JsonObject = Readonly<Record<string, unknown>>;

/** `public`: no credential needed. `caller`: any valid credential. `session`: a session, no API key. */
export type Access = "public" | "caller" | "session";

/** How a route differs from most others. */
export interface RouteOptions {
  /** The query parameters that replace the other fields if the body is YAML, which becomes the field `yaml`. */
  yamlQuery?: Query;
  /** Sends a file: without a time limit, and for as long as its reader needs. */
  download?: true;
  /** The request or response holds a secret, so no response is stored for repeated requests. */
  secret?: true;
  /** Ignores the session cookie: browsers also send expired ones, which must not block a new sign-in. */
  ignoresCookie?: true;
  /** Has no rate limit. Only outside /api/v1. */
  unlimited?: true;
}

export interface Route extends RouteOptions {
  method: string;
  /** As routers, logs and metrics write it: `/api/v1/models/:provider/*`. */
  pattern: string;
  access: Access;
  /** True if its bodies are forms of our own pages; false for the API. */
  isPage: boolean;
  maxBodyBytes: number;
  /** True if a request may write. */
  writes: boolean;
  /** Throws VALIDATION_ERROR for a body that the route's schema does not allow; null if the route checks it by itself. */
  checkBody: ((body: JsonObject) => void) | null;
  /** Called once access and body are checked. */
  respond(request: Request, params: Readonly<Record<string, string>>): Promise<Response>;
}

const ORG_AND_NAME = /^(\/api\/v1\/definitions\/[^/]+\/@(?:(?!%2f)[^/])+)\/([^/]+)/i;

/**
 * Returns the path that routes are matched by: without a trailing slash, `@` for `%40`, and `@org%2Fname` for
 * `@org/name`, so that it is one parameter of every route of definitions.
 */
export function canonicalPath(path: string): string {
  const unslashed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return unslashed.replaceAll("%40", "@").replace(ORG_AND_NAME, "$1%2F$2");
}
