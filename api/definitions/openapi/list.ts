/** Query parameters and OpenAPI of the list of definitions. */
import { COUNT, FLAG, listOf, record } from "../../../shared/json_schema.ts";
import {
  AUTHORSHIP_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_STATUSES,
  DEFINITION_TIERS,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
} from "../../../shared/vocabulary.ts";
import { DEFINITION_SORTS } from "../../../sql/definitions/list/sort_columns.ts";
import {
  choice,
  describeQuery,
  flag,
  limit,
  mapped,
  offset,
  text,
  texts,
  uuid,
  word,
} from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DEFINITIONS_TAG, EXAMPLE_SUMMARY, NOT_MODIFIED, SUMMARY } from "./operations.ts";

const MAX_TAGS = 50;
const MAX_TAG_LENGTH = 500;
const MAX_SEARCH_LENGTH = 500;
const MAX_SLUG_LENGTH = 63;

const isFork = choice(["true", "false"], "Only forks, or only definitions that are not forks");
const search = text(
  MAX_SEARCH_LENGTH,
  "Words to search for in name, display name and description. Stems and prefixes match, and so does any part of a name " +
    "or display name of three letters or more. Every word must match. If nothing matches, one misspelled letter per word is " +
    "corrected. The best matches come first unless `sortBy` is given; an exact name comes before all others, with or without its hyphens. `@org/name`, `org/name`, `name@version` and `@org` " +
    "are read as such; the version is ignored",
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
  // A blank search is no search.
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
  offset: offset("Number of definitions to skip"),
};

export const LIST_DEFINITIONS_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "listDefinitions",
  summary: "List and search definitions",
  description:
    "Lists the published and deprecated public definitions, and all definitions of your organizations that are not " +
    "archived. With `X-Org-Slug`, lists only the definitions of that organization.",
  parameters: [...describeQuery(LIST_QUERY), ORG_SLUG],
  responses: {
    200: dataResponse(
      "One page of definitions",
      record({
        definitions: listOf(SUMMARY),
        total: { ...COUNT, description: "Number of definitions on all pages" },
        limit: COUNT,
        offset: COUNT,
        hasMore: FLAG,
      }),
      { definitions: [EXAMPLE_SUMMARY], total: 1, limit: 50, offset: 0, hasMore: false },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("ORG_ACCESS_DENIED"),
});
