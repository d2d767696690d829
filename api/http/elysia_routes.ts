/** The routes that are not operations yet: those of an Elysia app, with what their `detail` declares. */
import type { TSchema } from "@sinclair/typebox";
import {
  ACCESS_FIELD,
  type Access,
  NOT_COUNTED_FIELD,
  PAST_COOKIE_FIELD,
  READS_FIELD,
  SECRET_FIELD,
} from "./access.ts";
import { type CheckBody, createBodyCheck, NO_FIELDS } from "./body/body_schema.ts";
import { YAML_FIELD } from "./body/yaml_body.ts";
import type { Query } from "./query.ts";
import { type Route, withoutTrailingSlash } from "./route.ts";

/** The fields of an Elysia route that are read here. */
export interface RegisteredRoute {
  method: string;
  path: string;
  hooks: unknown;
}

/** The fields that access.ts puts into a route's `detail`. */
interface Declared {
  [ACCESS_FIELD]?: Access;
  [PAST_COOKIE_FIELD]?: true;
  [READS_FIELD]?: true;
  [NOT_COUNTED_FIELD]?: true;
  [YAML_FIELD]?: Query;
  [SECRET_FIELD]?: true;
  requestBody?: unknown;
}

/** The parts of Elysia's hooks that are read here; Elysia types them as `any`. */
interface Hooks {
  detail?: Declared;
  body?: TSchema;
}

/** Routes that describe their body in `detail` read it by themselves. */
function bodyCheckOf(method: string, declared: Declared, body: TSchema | undefined): CheckBody | null {
  if (body) return createBodyCheck(body);
  const readsItself = method === "GET" || declared.requestBody !== undefined;
  return readsItself ? null : createBodyCheck(NO_FIELDS);
}

/** Returns the route of an Elysia app that `dispatch` calls. Throws for a route without declared access. */
export function toRoute(
  { method, path, hooks }: RegisteredRoute,
  dispatch: (request: Request) => Promise<Response>,
): Route {
  const { detail: declared = {}, body } = hooks as Hooks;
  const access = declared[ACCESS_FIELD];
  if (!access) throw new Error(`Cannot build the app: ${method} ${path} declares no access`);
  return {
    method,
    pattern: withoutTrailingSlash(path),
    access,
    ignoresCookie: declared[PAST_COOKIE_FIELD] ?? false,
    isUnlimited: declared[NOT_COUNTED_FIELD] ?? false,
    maxFormBytes: null,
    writes: method !== "GET" && !declared[READS_FIELD],
    yamlQuery: declared[YAML_FIELD] ?? null,
    holdsSecret: declared[SECRET_FIELD] ?? false,
    checkBody: bodyCheckOf(method, declared, body),
    respond: dispatch,
  };
}
