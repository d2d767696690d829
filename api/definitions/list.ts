/** GET /definitions: what is listed to the caller, filtered, searched and sorted, a page at a time. */
import { Elysia } from "elysia";
import { listDefinitions } from "../../sql/definition_search.ts";
import type { Pool } from "../../sql/pool.ts";
import { access } from "../access.ts";
import { conditionalParts, joinTexts } from "../conditional_json.ts";
import { queryOf } from "../query_reader.ts";
import { LIST_DEFINITIONS_DETAIL } from "./list_openapi.ts";
import { parseListParameters } from "./list_parameters.ts";
import { type ReadDeps, readScope } from "./reading.ts";

export interface ListDeps extends ReadDeps {
  /** For lists, as `openListPool` opens it. */
  listSql: Pool;
}

export function listRoutes(deps: ListDeps) {
  return new Elysia({ prefix: "/definitions" }).use(access).get(
    "/",
    async ({ request, visitor }) => {
      const parameters = parseListParameters(queryOf(request));
      const scope = await readScope(deps.sql, visitor, request);
      const { items, total } = await listDefinitions(deps, { ...parameters, ...scope });
      const { limit, offset } = parameters;
      const hasMore = offset + limit < total;
      const rest = JSON.stringify({ total, limit, offset, hasMore }).slice(1);
      return conditionalParts(request, ['{"data":{"definitions":[', ...joinTexts(items), `],${rest}}`]);
    },
    { publicAccess: true, detail: LIST_DEFINITIONS_DETAIL },
  );
}
