/** GET /definitions: lists and searches definitions. */

import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { data, listOf, PAGE } from "../../shared/schemas.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import {
  AUTHORSHIP_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_STATUSES,
  DEFINITION_TIERS,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import { findDefinitionOwnerId } from "../../sql/accounts/orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { LIST_TIMEOUT_MS, listDefinitions as listPage } from "../../sql/definitions/list/list_definitions.ts";
import { DEFINITION_SORTS } from "../../sql/definitions/list/sort_columns.ts";
import { withinTimeout } from "../http/error_handler.ts";
import { jsonText, operation, reply } from "../http/operation.ts";
import { choice, flag, limit, mapped, OFFSET, text, texts, uuid, word } from "../http/query.ts";
import { readScope } from "./find_visible.ts";
import { DefinitionSummary, READ } from "./schemas.ts";

const BEFORE_ITEMS = Buffer.from('{"data":{"definitions":[');
const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.list(LIST_TIMEOUT_MS / 1000);
const MAX_TAGS = 50;
const MAX_TAG_LENGTH = 500;
const MAX_SEARCH_LENGTH = 500;
const MAX_SLUG_LENGTH = 63;

const isFork = choice(["true", "false"], "Only forks, or only definitions that are not forks");
const search = text(
  MAX_SEARCH_LENGTH,
  "Words to search for in name, display name and description. Stems and prefixes match, and so does any part of a name " +
    "or display name of three letters or more. Every word must match. If nothing matches, one misspelled letter per word is " +
    "corrected. The best matches come first unless `sortBy` is given, an exact name before all others, with or without hyphens. `@org/name`, `org/name`, `name@version` and `@org` " +
    "name an organization or a definition",
);

export const LIST_QUERY = {
  type: choice(DEFINITION_TYPES, "Filter by type"),
  status: choice(DEFINITION_STATUSES, "Filter by status. Archived definitions are never listed"),
  agentType: choice(DEFINITION_AGENT_TYPES, "Filter by agent type"),
  domain: choice(DEFINITION_DOMAINS, "Filter by domain"),
  tier: choice(DEFINITION_TIERS, "Filter by tier"),
  visibility: choice(DEFINITION_VISIBILITIES, "Filter by visibility, among the definitions visible to you"),
  organization: text(
    MAX_SLUG_LENGTH,
    "Filter by organization (slug), among the definitions visible to you; you need not be a member",
  ),
  authorId: uuid("Filter by author (user id)"),
  authorshipType: choice(AUTHORSHIP_TYPES, "Filter by the `authorshipType` of the provenance"),
  isFork: mapped(isFork, (word) => (word === null ? null : word === "true")),
  tag: texts(
    { maxItems: MAX_TAGS, maxLength: MAX_TAG_LENGTH },
    "Filter by tag. Repeat to match any of several tags",
  ),
  // A blank text means no search.
  search: mapped(search, (words) => words?.trim() || null),
  latestOnly: flag(true, "Only the highest version of each definition"),
  publishedFirst: flag(
    false,
    "With `latestOnly`, in your organizations: the highest published version of each definition, else the highest " +
      "deprecated one, else the highest draft. Each item then has `draftVersion`",
  ),
  sortBy: choice(DEFINITION_SORTS, "Sort key. Default: relevance in a search, else `createdAt`"),
  sortOrder: word(["desc", "asc"], "Sort direction"),
  limit: limit({ max: 100, unset: 50 }, "Page size"),
  offset: OFFSET,
};

export const listDefinitions = operation(
  {
    ...READ,
    id: "listDefinitions",
    path: "/api/v1/definitions",
    summary: "List and search definitions",
    description:
      "Lists the published and deprecated public definitions, and all definitions of your organizations that are not " +
      "archived. With `X-Org-Slug`, lists only the definitions of that organization.",
    query: LIST_QUERY,
    response: {
      200: data(
        {
          definitions: listOf(DefinitionSummary),
          total: Type.Integer({
            minimum: 0,
            description: "Number of definitions on all pages",
            examples: [1],
          }),
          ...PAGE,
          hasMore: Type.Boolean(),
        },
        "One page of definitions",
      ),
    },
    fails: ["ORG_ACCESS_DENIED"],
  },
  async ({ query, caller, request }, { sql, turns }) => {
    const { search, sortBy, sortOrder, limit, offset, tag, organization, ...filters } = query;
    const scope = await readScope(sql, { caller, request });
    const written = search === null ? null : await readWrittenName(sql, search);
    const organizations = [organization, written?.orgSlug ?? null].filter((slug) => slug !== null);
    const page = {
      search: written ? written.name : search,
      sortBy,
      sortOrder,
      limit,
      offset,
      filters: { ...filters, organizations, tags: tag },
      ...scope,
    };
    const { items, total } = await turns.lists(request, () =>
      withinTimeout(TOO_LONG, () => listPage(sql, page)),
    );
    const hasMore = offset + limit < total;
    const rest = JSON.stringify({ total, limit, offset, hasMore }).slice(1);
    return reply(200, jsonText(Buffer.concat([BEFORE_ITEMS, items, Buffer.from(`],${rest}}`)])));
  },
);

/** Matches names such as `leaf@1.0.0`, `@demo/leaf` and `demo/leaf@^1.0.0`. `ORGANIZATION` matches `@demo`. */
const WRITTEN_NAME = /^(?:@?([a-z0-9][a-z0-9._-]*)\/)?([a-z0-9-]+)(?:@(?:latest|[\^~<>=]*\d[\w.]*))?$/;
const ORGANIZATION = /^@([a-z0-9][a-z0-9._-]*)\/?$/;

/**
 * Parses a search text that is a name with an optional organization and version. Drops the version. A null name means all
 * definitions of the organization. Returns null for other texts and unknown organizations, so that the text is searched as
 * words.
 */
async function readWrittenName(
  sql: Sql,
  search: string,
): Promise<{ orgSlug: string | null; name: string | null } | null> {
  const text = search.trim().toLowerCase();
  const [, given = ORGANIZATION.exec(text)?.[1] ?? null, name = null] = WRITTEN_NAME.exec(text) ?? [];
  if (given === null) return name === null ? null : { orgSlug: null, name };
  // `ci/cd` is two words unless an organization has the slug `ci`.
  return isAccountSlug(given) && (await findDefinitionOwnerId(sql, given)) ? { orgSlug: given, name } : null;
}
