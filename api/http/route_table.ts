/** Finds the route of a request before Elysia does, because access is checked before the body is read. */
import { type TSchema, Type } from "@sinclair/typebox";
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
import { type CheckBody, createBodyCheck } from "./body/body_schema.ts";
import { YAML_FIELD } from "./body/yaml_body.ts";
import type { Query } from "./query.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The fields of an Elysia route that the table reads. */
export interface RegisteredRoute {
  method: string;
  path: string;
  hooks: unknown;
}

export interface Route {
  /** As it was registered: `/api/v1/export/projects/:project/bundle`. */
  pattern: string;
  access: Access;
  /** True if the route ignores the session cookie. */
  looksPastCookie: boolean;
  /** True for a route outside /api/v1 without a rate limit. */
  isNotCounted: boolean;
  /** Maximum size of a form in bytes; null if the route is not a page. */
  maxFormBytes: number | null;
  /** True if a request may write. */
  writes: boolean;
  /** The query parameters that replace JSON fields if the body is YAML; null if only JSON is accepted. */
  yamlQuery: Query | null;
  /** True if the response holds a secret, so that it is not stored. */
  holdsSecret: boolean;
  /** Checks a body against the route's schema; null if the route reads it by itself. */
  checkBody: CheckBody | null;
}

export type RouteMatch =
  | { found: true; route: Route }
  /** `allow` is the value of the `Allow` header; empty if the path has no route. */
  | { found: false; allow: string };

export type RouteTable = (method: string, path: string) => RouteMatch;

/** The fields that access.ts puts into a route's `detail`. */
interface Declared {
  [ACCESS_FIELD]?: Access;
  [PAST_COOKIE_FIELD]?: true;
  [READS_FIELD]?: true;
  [NOT_COUNTED_FIELD]?: true;
  [PAGE_FIELD]?: { maxFormBytes: number };
  [YAML_FIELD]?: Query;
  [SECRET_FIELD]?: true;
  requestBody?: unknown;
}

/** The parts of Elysia's hooks that the table reads; Elysia types them as `any`. */
interface Hooks {
  detail?: Declared;
  body?: TSchema;
}

/** Removes a trailing slash. */
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

/** The body of a route that takes none. */
const NO_FIELDS = Type.Object({}, { additionalProperties: false });

/** Routes that describe their body in `detail`, and pages, read it by themselves. */
function bodyCheckOf(method: string, declared: Declared, body: TSchema | undefined): CheckBody | null {
  if (body) return createBodyCheck(body);
  const readsItself = method === "GET" || declared.requestBody !== undefined || declared[PAGE_FIELD];
  return readsItself ? null : createBodyCheck(NO_FIELDS);
}

/** Builds the table. Throws for a route without declared access. */
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
      checkBody: bodyCheckOf(route.method, declared, body),
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
