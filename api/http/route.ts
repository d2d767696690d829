/** A route: the requests of one method and path pattern, and what serves them. */
import type { Query } from "./query.ts";

/** Routes below it are the API; others are pages and files. */
export const API_PREFIX = "/api/v1";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Throws VALIDATION_ERROR. */
export type CheckBody = (body: JsonObject) => void;

/** `public`: no credential needed. `caller`: any valid credential. `session`: a session, no API key. */
export type Access = "public" | "caller" | "session";

export interface Route {
  method: string;
  /** As routers, logs and metrics write it: `/api/v1/models/:provider/*`. */
  pattern: string;
  access: Access;
  ignoresCookie: boolean;
  /** True for a route outside /api/v1 without a rate limit. */
  isUnlimited: boolean;
  /** True if its bodies are forms of our own pages; false for the API. */
  isPage: boolean;
  maxBodyBytes: number;
  /** True if a request may write. */
  writes: boolean;
  /** The query parameters that replace JSON fields if the body is YAML; null if only JSON is accepted. */
  yamlQuery: Query | null;
  /** True for files, which have no time limit and may send nothing for a while. */
  isDownload: boolean;
  /** True if the request or the response holds a secret, so that the response is not stored. */
  holdsSecret: boolean;
  /** Checks a body against the route's schema; null if the route does so by itself. */
  checkBody: CheckBody | null;
  /** Called once access and body are checked. */
  respond(request: Request, params: Readonly<Record<string, string>>): Promise<Response>;
}
