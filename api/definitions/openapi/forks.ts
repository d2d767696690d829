/** OpenAPI of forks. */
import {
  COUNT,
  FLAG,
  ID,
  INSTANT,
  listOf,
  named,
  nullable,
  oneOf,
  record,
  TEXT,
} from "../../../shared/json_schema.ts";
import { DEFINITION_TYPES, FORK_DENIALS } from "../../../shared/vocabulary.ts";
import { DEFINITION_FIELDS, NAMED_FIELDS } from "../../../sql/definitions/fields.ts";
import { choice, describeQuery } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { WRITE_FAILURES } from "./edit.ts";
import {
  DEFINITION,
  DEFINITIONS_TAG,
  EXAMPLE_DEFINITION,
  exampleOf,
  NOT_MODIFIED,
  nameParameter,
  schemasOf,
  TYPE_PARAMETER,
  VERSION_OR_ID,
  WARNING,
} from "./operations.ts";

const TYPE = oneOf(DEFINITION_TYPES);

const FORK = named(
  "Fork",
  record({
    id: ID,
    definitionId: { ...ID, description: "The first version of the fork" },
    sourceDefinitionId: {
      ...nullable(ID),
      description: "The forked version, which may have been deleted; null if you cannot see it",
    },
    forkedAt: INSTANT,
  }),
);
const { id, displayName } = DEFINITION_FIELDS;
const SOURCE = named("ForkSource", record(schemasOf(NAMED_FIELDS)));

const EXAMPLE_FORK = {
  id: "3c1f0a52-5c7e-4d0b-9f57-0d6f4a1b0004",
  definitionId: "6f1b2c3d-7e8f-4a9b-8c0d-1e2f3a4b0005",
  sourceDefinitionId: id.example,
  forkedAt: "2026-11-20T10:00:00.000Z",
};
const EXAMPLE_SOURCE = exampleOf(NAMED_FIELDS);
const EXAMPLE_FORKED = {
  id: EXAMPLE_FORK.definitionId,
  type: "agent",
  name: "my-reviewer",
  version: "1.0.0",
  authorId: "5b0c4f9e-8f4e-4c53-9a57-6a3d0b1c0006",
  orgId: "9a1d2e3f-1b2c-4d3e-8f4a-5b6c7d8e0007",
};

const FORKED = named(
  "ForkedDefinition",
  record({ fork: FORK, definition: record(schemasOf({ ...NAMED_FIELDS, displayName })) }),
);

/** A draft has a lineage, but only its version's address finds it. */
const LINE_OR_VERSION = nameParameter("`name`, `name@version`, or the id of a version", "code-reviewer");

export const FORK_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "forkDefinition",
  summary: "Fork a definition",
  description:
    "The source must be published or deprecated, or belong to one of the caller's organizations. The fork is a draft " +
    "1.0.0; its name, its version and the fields of the body are written into the document. References to definitions " +
    "of other organizations get their `@org/`. All other bytes stay. Non-fatal problems of the fork are returned in " +
    "`warnings`.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ORG_SLUG],
  responses: {
    201: dataResponse(
      "The fork and its source",
      record({ definition: DEFINITION, fork: FORK, source: SOURCE, warnings: listOf(WARNING) }),
      {
        definition: {
          ...EXAMPLE_DEFINITION,
          ...EXAMPLE_FORKED,
          status: "draft",
          visibility: "private",
          publishedAt: null,
          releasedAt: null,
          executionCount: 0,
          uniqueExecutionCount: 0,
          forkCount: 0,
          forkedFromId: id.example,
          namespace: "@ada/my-reviewer",
        },
        fork: EXAMPLE_FORK,
        source: EXAMPLE_SOURCE,
        warnings: [],
      },
    ),
  },
  ...failsWith(
    ...WRITE_FAILURES,
    "NOT_FOUND",
    "NOT_FORKABLE",
    "NAME_TAKEN",
    "PAYLOAD_TOO_LARGE",
    "UNPROCESSABLE_ENTITY",
    "QUOTA_EXCEEDED",
  ),
});

export const FORKABLE_QUERY = {
  canForkAsPrivate: choice(["true", "false"], "Accepted for compatibility; does not change the result"),
};

export const FORKABLE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getForkable",
  summary: "Check whether a definition can be forked",
  description: "Into the organization the call means; `reason` says why not.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ORG_SLUG, ...describeQuery(FORKABLE_QUERY)],
  responses: {
    200: dataResponse(
      "Whether you can fork it, and the reason if not",
      record({ canFork: FLAG, reason: oneOf(FORK_DENIALS) }, ["reason"]),
      { canFork: false, reason: "UNAUTHENTICATED" },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});

const LINEAGE_STEP = record({
  sourceType: TYPE,
  sourceName: {
    ...nullable(TEXT),
    description:
      "Name at the time of the fork. Name and version are null if you cannot see the source, or if it was deleted and " +
      "you are not a member of its organization",
  },
  sourceVersion: nullable(TEXT),
  source: { ...nullable(SOURCE), description: "Null if it was deleted or you cannot see it" },
  sourceAvailable: FLAG,
});

const LINEAGE = record({
  isFork: FLAG,
  fork: nullable(FORK),
  source: { ...nullable(SOURCE), description: "Null if this is no fork, or the source is unavailable" },
  chain: {
    ...listOf(named("LineageStep", LINEAGE_STEP)),
    maxItems: 100,
    description: "Nearest source first, up to the first one you cannot see",
  },
});

export const LINEAGE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getLineage",
  summary: "Get the lineage of a fork",
  description: "Returns the source of the fork, the source of that, and so on, as far as you can see them.",
  parameters: [TYPE_PARAMETER, LINE_OR_VERSION, ORG_SLUG],
  responses: {
    200: dataResponse("The lineage", named("Lineage", LINEAGE), {
      isFork: true,
      fork: EXAMPLE_FORK,
      source: EXAMPLE_SOURCE,
      chain: [
        {
          sourceType: "agent",
          sourceName: "reviewer",
          sourceVersion: "1.0.0",
          source: EXAMPLE_SOURCE,
          sourceAvailable: true,
        },
      ],
    }),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});

export const FORKS_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "listForks",
  summary: "List the forks of a definition",
  description:
    "Lists the newest forks first, at most 1,000 of the newest 10,000. Forks that you would not find in a list are counted " +
    "in `totalForks` but left out.",
  parameters: [TYPE_PARAMETER, LINE_OR_VERSION, ORG_SLUG],
  responses: {
    200: dataResponse(
      "The forks of all its versions",
      record({
        forks: listOf(FORKED),
        totalForks: COUNT,
      }),
      {
        forks: [{ fork: EXAMPLE_FORK, definition: { ...EXAMPLE_FORKED, displayName: "My reviewer" } }],
        totalForks: 1,
      },
    ),
    ...NOT_MODIFIED,
  },
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
});
