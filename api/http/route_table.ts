/** Which route a request is for, known before Elysia sees it: access is checked before a body is read. */
import type { TSchema } from "@sinclair/typebox";
import { Memoirist } from "memoirist";
import {
  ACCESS_FIELD,
  type Access,
  NOT_COUNTED_FIELD,
  PAGE_FIELD,
  PAST_COOKIE_FIELD,
  READS_FIELD,
  SECRET_FIELD,
} from "./access.ts";
import { type CheckBody, createBodyCheck } from "./body_schema.ts";
import type { Query } from "./query.ts";
import { YAML_FIELD } from "./yaml_body.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The part of an Elysia route that the table reads. */
export interface RegisteredRoute {
  method: string;
  path: string;
  hooks: unknown;
}

export interface Route {
  /** As it was registered: `/api/v1/export/projects/:project/bundle`. */
  pattern: string;
  access: Access;
  /** Whether a session cookie is no credential here. */
  looksPastCookie: boolean;
  /** Whether its requests are not limited, where it is outside of /api/v1. */
  isNotCounted: boolean;
  /** The largest form in bytes that the page takes; null where the route is no page. */
  maxFormBytes: number | null;
  /** Whether a call writes anything. */
  writes: boolean;
  /** The query parameters that take the place of JSON fields where the body is YAML; null where only JSON is read. */
  yamlQuery: Query | null;
  /** Whether the response holds a secret, so that it is not kept. */
  holdsSecret: boolean;
  /** Refuses a body that does not fit the route's schema; null where any object does. */
  checkBody: CheckBody | null;
}

export type RouteMatch =
  | { found: true; route: Route }
  /** `allow` is empty when no method of that path exists, else the value of the `Allow` header. */
  | { found: false; allow: string };

export type RouteTable = (method: string, path: string) => RouteMatch;

/** What access.ts put into a route's description. */
interface Declared {
  [ACCESS_FIELD]?: Access;
  [PAST_COOKIE_FIELD]?: true;
  [READS_FIELD]?: true;
  [NOT_COUNTED_FIELD]?: true;
  [PAGE_FIELD]?: { maxFormBytes: number };
  [YAML_FIELD]?: Query;
  [SECRET_FIELD]?: true;
}

/** The parts of Elysia's hooks that the table reads; Elysia types them as `any`. */
interface Hooks {
  detail?: Declared;
  body?: TSchema;
}

/** One resource with and without a trailing slash. */
function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

const ORG_AND_NAME = /^(\/api\/v1\/definitions\/[^/]+\/@(?:(?!%2f)[^/])+)\/([^/]+)/i;

/**
 * Returns the path that routes are matched by: without a trailing slash, `@` for `%40`, and `@org%2Fname` for
 * `@org/name`, so that it is one parameter of every route of definitions.
 */
export function canonicalPath(path: string): string {
  return withoutTrailingSlash(path.replaceAll("%40", "@")).replace(ORG_AND_NAME, "$1%2F$2");
}

/** Makes the table. Throws for a route that does not say who may call it. */
export function buildRouteTable(routes: readonly RegisteredRoute[]): RouteTable {
  const router = new Memoirist<Route>();
  for (const route of routes) {
    const { detail: declared = {}, body } = route.hooks as Hooks;
    const access = declared[ACCESS_FIELD];
    if (!access) throw new Error(`Cannot build the app: ${route.method} ${route.path} declares no access`);
    const pattern = withoutTrailingSlash(route.path);
    router.add(route.method, pattern, {
      pattern,
      access,
      looksPastCookie: declared[PAST_COOKIE_FIELD] ?? false,
      isNotCounted: declared[NOT_COUNTED_FIELD] ?? false,
      maxFormBytes: declared[PAGE_FIELD]?.maxFormBytes ?? null,
      writes: route.method !== "GET" && !declared[READS_FIELD],
      yamlQuery: declared[YAML_FIELD] ?? null,
      holdsSecret: declared[SECRET_FIELD] ?? false,
      checkBody: body ? createBodyCheck(body) : null,
    });
  }

  function allowedMethods(path: string): string {
    const methods: string[] = METHODS.filter((method) => router.find(method, path));
    if (methods[0] === "GET") methods.splice(1, 0, "HEAD");
    return methods.join(", ");
  }

  return (method, path) => {
    const match = router.find(method === "HEAD" ? "GET" : method, path);
    if (match) return { found: true, route: match.store };
    return { found: false, allow: allowedMethods(path) };
  };
}
