/** GET /definitions: lists and searches definitions. */
import { Elysia } from "elysia";
import { isAccountSlug } from "../../shared/slugs.ts";
import { findOrgBySlug } from "../../sql/accounts/orgs.ts";
import { hasSqlState, type Sql } from "../../sql/connection/pool.ts";
import {
  type DefinitionListQuery,
  type DefinitionPage,
  listDefinitions,
} from "../../sql/definitions/list/list_definitions.ts";
import { LIST_TIMEOUT_MS } from "../../sql/definitions/list/list_transaction.ts";
import { access } from "../http/access.ts";
import { unavailable } from "../http/error_handler.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import { conditionalText } from "../http/response/conditional_json.ts";
import { type ReadDeps, readScope } from "./find_readable.ts";
import { LIST_DEFINITIONS_DETAIL, LIST_QUERY } from "./openapi/list.ts";
import type { DefinitionTurns } from "./turns.ts";

const QUERY_CANCELED = "57014";

export interface ListDeps extends ReadDeps {
  turns: DefinitionTurns;
}

export function listRoutes(deps: ListDeps) {
  const listPage = createListPage(deps);
  return new Elysia({ prefix: "/definitions" }).use(access).get(
    "/",
    async ({ request, visitor }) => {
      const { search, sortBy, sortOrder, limit, offset, tag, ...filters } = parseQuery(
        LIST_QUERY,
        queryOf(request),
      );
      const scope = await readScope(deps.sql, visitor, request);
      const written = search === null ? null : await readWrittenName(deps.sql, search);
      const { items, total } = await listPage(request, {
        search: written ? written.name : search,
        sortBy,
        sortOrder,
        limit,
        offset,
        filters: { ...filters, organization: filters.organization ?? written?.orgSlug ?? null, tags: tag },
        ...scope,
      });
      const hasMore = offset + limit < total;
      const rest = JSON.stringify({ total, limit, offset, hasMore }).slice(1);
      return conditionalText(request, `{"data":{"definitions":[${items}],${rest}}`);
    },
    { publicAccess: true, detail: LIST_DEFINITIONS_DETAIL },
  );
}

/** `leaf@1.0.0`, `@demo/leaf`, `demo/leaf@^1.0.0` or `@demo`. */
const WRITTEN_NAME = /^(?:@?([a-z0-9-]+)\/)?([a-z0-9-]+)(?:@(?:latest|[\^~<>=]*\d[\w.]*))?$/;
const ORGANIZATION = /^@([a-z0-9-]+)\/?$/;

/**
 * Reads a search that is written as references and pages write names: its organization, if there is one of that slug, and
 * the name without version, or null for all. Returns null for any other text, which is searched as words.
 */
async function readWrittenName(
  sql: Sql,
  search: string,
): Promise<{ orgSlug: string | null; name: string | null } | null> {
  const text = search.trim().toLowerCase();
  const [, given = ORGANIZATION.exec(text)?.[1] ?? null, name = null] = WRITTEN_NAME.exec(text) ?? [];
  if (given === null) return name === null ? null : { orgSlug: null, name };
  // A text such as ci/cd is two words.
  return isAccountSlug(given) && (await findOrgBySlug(sql, given)) ? { orgSlug: given, name } : null;
}

/**
 * Makes the function that lists a page. Throws RATE_LIMITED, or SERVICE_UNAVAILABLE if the database takes too long.
 */
function createListPage({ sql, turns }: ListDeps) {
  return async (request: Request, query: DefinitionListQuery): Promise<DefinitionPage> => {
    try {
      return await turns.lists.run(request, () => listDefinitions(sql, query));
    } catch (error) {
      if (!hasSqlState(error, QUERY_CANCELED)) throw error;
      const seconds = LIST_TIMEOUT_MS / 1000;
      throw unavailable(
        error,
        `The list took longer than ${seconds} seconds. Try again later, or use more filters.`,
      );
    }
  };
}
