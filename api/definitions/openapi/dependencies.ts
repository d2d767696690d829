/** What the routes of dependencies and dependents take and answer. */
import { COUNT, FLAG, ID, listOf, named, oneOf, record, TEXT } from "../../../shared/json_schema.ts";
import { DEFINITION_TYPES } from "../../../shared/vocabulary.ts";
import { describeQuery, integer } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DEFINITIONS_TAG, NOT_MODIFIED, TYPE_PARAMETER, VERSION_OR_ID } from "./operations.ts";

const TYPE = oneOf(DEFINITION_TYPES);
const NAMED = {
  id: ID,
  organization: { ...TEXT, description: "The organization's slug" },
  type: TYPE,
  name: TEXT,
  version: TEXT,
};
const VERSION_NAME = named("DefinitionVersionName", record(NAMED));
const CONTEXT = { ...TEXT, description: "Where the YAML names it, such as `phase checks`" };

const NODE = {
  ...named(
    "DependencyNode",
    record(
      {
        ...NAMED,
        context: { ...CONTEXT, description: "Where the YAML above names it. The root has none" },
        dependencies: {
          ...listOf({ $ref: "#/components/schemas/DependencyNode" }),
          description: "Empty at `maxDepth`, and where a definition appears again below itself",
        },
      },
      ["context"],
    ),
  ),
  description: "The definition and its dependencies, recursively",
};

const DEPENDENCY = named(
  "Dependency",
  record({ ...NAMED, context: CONTEXT, depth: { type: "integer", minimum: 1 } }),
);
const UNRESOLVED = named(
  "UnresolvedReference",
  record({ type: TYPE, name: TEXT, range: TEXT, context: CONTEXT }),
);
const DEPENDENT = named(
  "Dependent",
  record({
    ...NAMED,
    context: CONTEXT,
    range: { ...TEXT, description: "The range in its YAML, such as `^1.0.0`" },
  }),
);

const REVIEWER = {
  id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a11",
  organization: "demo",
  type: "agent",
  name: "reviewer",
  version: "1.4.0",
};
const REVIEW_CODE = {
  id: "0190c3a4-6b1e-7c55-9d5e-2f8f6f0b7a10",
  organization: "demo",
  type: "command",
  name: "review-code",
  version: "1.0.0",
};
const TRUNCATED = { ...FLAG, description: "Whether a limit cut something off" };

export const DEPENDENCIES_QUERY = {
  maxDepth: integer({ min: 1, max: 50, unset: 50 }, "Number of levels"),
};

export const DEPENDENCIES_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getDependencies",
  summary: "List the dependencies of a definition",
  description:
    "Publishing settles which definition each reference means: `@org/name` names it; a bare `name` is the definition of " +
    "the author's organization, else the one that the author can read by that name. A range resolves to its highest " +
    "published version that you can see, else to the highest deprecated one. References that you cannot resolve are in " +
    "`unresolved`. The tree has at most 5,000 nodes, the nearest ones; `truncated` says whether anything is missing.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ORG_SLUG, ...describeQuery(DEPENDENCIES_QUERY)],
  responses: {
    200: dataResponse(
      "The dependencies",
      named(
        "Dependencies",
        record({
          definition: VERSION_NAME,
          graph: NODE,
          flat: {
            ...listOf(DEPENDENCY),
            description: "Each dependency once, at its smallest depth",
          },
          totalCount: { ...COUNT, description: "Number of definitions in `flat`" },
          maxDepth: { ...COUNT, description: "The deepest level found" },
          unresolved: { ...listOf(UNRESOLVED), description: "References that you cannot resolve" },
          truncated: TRUNCATED,
        }),
      ),
      {
        definition: REVIEW_CODE,
        graph: {
          ...REVIEW_CODE,
          dependencies: [{ ...REVIEWER, context: "invokes.agent", dependencies: [] }],
        },
        flat: [{ ...REVIEWER, context: "invokes.agent", depth: 1 }],
        totalCount: 1,
        maxDepth: 1,
        unresolved: [],
        truncated: false,
      },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});

export const DEPENDENTS_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getDependents",
  summary: "List the dependents of a definition",
  description:
    "Lists the versions that depend directly on this version or, for a name without a version, on any version of the " +
    "definition. Versions that you would not find in a list are left out. At most 5,000 are shown.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ORG_SLUG],
  responses: {
    200: dataResponse(
      "The dependents, by name, highest version first",
      record({
        definition: VERSION_NAME,
        dependents: listOf(DEPENDENT),
        totalCount: COUNT,
        truncated: TRUNCATED,
      }),
      {
        definition: REVIEWER,
        dependents: [{ ...REVIEW_CODE, context: "invokes.agent", range: "^1.0.0" }],
        totalCount: 1,
        truncated: false,
      },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});
