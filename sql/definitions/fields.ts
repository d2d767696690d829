/**
 * Lists all fields of a definition. Queries, row types, the API's JSON and the OpenAPI schema with its examples are derived from
 * this list. The SQL expressions refer to DEFINITION_TABLES.
 */
import { Type } from "@sinclair/typebox";
import { LANGUAGE_VERSION } from "../../shared/definitions/language/language.ts";
import { Instant, Natural, Nullable, oneOf, Text } from "../../shared/schemas.ts";
import {
  AUTHORSHIP_TYPES,
  CHANGE_TYPES,
  CONTRIBUTOR_ROLES,
  CONTRIBUTOR_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_STATUSES,
  DEFINITION_TIERS,
  DEFINITION_TYPES,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import {
  countField,
  type FieldMap,
  type FieldValues,
  field,
  instantField,
  nullableField,
  textField,
  textsField,
  uuidField,
  wordField,
} from "./definition_field.ts";

const AT = "2026-11-20T10:00:00.000Z";

export const EXAMPLE_YAML = `agent:
  interface:
    name: reviewer
    version: "1.0.0"
    displayName: Reviewer
    description: Reviews a change and says what to mend before it is merged.
    agentType: explorer
    domain: software
  mission:
    opener: You review one change at a time and report what you find.
`;

const Contributor = Type.Object(
  {
    id: Type.Optional(Text),
    role: oneOf(CONTRIBUTOR_ROLES),
    type: oneOf(CONTRIBUTOR_TYPES),
    name: Type.Optional(Nullable(Text)),
    agentName: Type.Optional(Nullable(Text)),
    contributedAt: Type.Optional(Instant()),
  },
  { title: "Contributor" },
);

const Provenance = Type.Object(
  {
    authorshipType: Type.Optional(oneOf(AUTHORSHIP_TYPES)),
    contributors: Type.Optional(Type.Array(Contributor, { minItems: 1, maxItems: 50 })),
    dialecticRounds: Type.Optional(Natural),
    optimizationRunId: Type.Optional(Nullable(Text)),
  },
  { title: "Provenance", required: [] },
);

/** The reason why a document could not be rendered. */
const TranslationError = Type.Unsafe<{ reason: string; path: string }>({
  type: "object",
  properties: { reason: Text, path: Text },
});

/**
 * The fields of a summary, as in lists. `minSubscription` and `catalogueTier` are constant, because nothing is priced or curated
 * yet.
 */
export const SUMMARY_FIELDS = {
  id: uuidField("d.id", "0b7e6f0c-6a3f-4b52-9d8e-2f1c55d0a001"),
  type: wordField("d.type", DEFINITION_TYPES, "agent"),
  name: textField("d.name", "reviewer"),
  version: textField("d.version", "1.0.0"),
  status: wordField("d.status", DEFINITION_STATUSES, "published"),
  domain: wordField("d.domain", DEFINITION_DOMAINS, "software"),
  subdomain: nullableField(textField("d.subdomain", null)),
  agentType: nullableField(wordField("d.agent_type", DEFINITION_AGENT_TYPES, "explorer")),
  hash: textField(
    "d.hash",
    `sha256:${"0".repeat(64)}`,
    "`sha256:` and the hex digest of the document as canonical JSON (RFC 8785)",
  ),
  promptHash: nullableField(
    textField(
      "d.prompt_hash",
      `sha256:${"1".repeat(64)}`,
      "`sha256:` and the hex digest of `runtimeMd` in UTF-8; null if there is none",
    ),
  ),
  displayName: textField("d.display_name", "Reviewer"),
  description: textField("d.description", "Reviews a change and says what to mend before it is merged."),
  author: nullableField(textField("d.author", null)),
  authorshipType: nullableField(wordField("d.authorship_type", AUTHORSHIP_TYPES, null)),
  tags: textsField("d.tags", ["review"]),
  authorId: uuidField(
    "d.author_id",
    "5b0c4f9e-8f4e-4c53-9a57-6a3d0b1c0002",
    "The author of this version (user id)",
  ),
  orgId: uuidField("d.org_id", "9a1d2e3f-1b2c-4d3e-8f4a-5b6c7d8e0003"),
  tier: wordField("d.tier", DEFINITION_TIERS, "org"),
  visibility: wordField("d.visibility", DEFINITION_VISIBILITIES, "public"),
  createdAt: instantField("d.created_at", AT),
  updatedAt: instantField("d.updated_at", AT),
  publishedAt: nullableField(instantField("d.published_at", AT)),
  executionCount: countField("l.execution_count", 12, "Counts all versions, like the other counters"),
  uniqueExecutionCount: countField("l.unique_execution_count", 3),
  forkCount: countField("l.fork_count", 1),
  starCount: countField("l.star_count", 0),
  forkedFromId: {
    ...nullableField(
      uuidField(
        "l.forked_from_id",
        null,
        "The version this was forked from; null if it is no fork, or you cannot see the source",
      ),
    ),
    json: "source.id",
  },
  namespace: textField("'@' || o.slug || '/' || d.name", "@demo/reviewer", "`@organization/name`"),
  minSubscription: textField("'free'", "free"),
  // The schema is not of type "null", because openapi-fetch omits fields of that type.
  catalogueTier: nullableField(textField("null", null, "Always null")),
  releasedAt: nullableField(
    instantField("l.first_published_at", AT, "Time of the first publication of any version"),
  ),
  quarantinedAt: nullableField(
    instantField(
      "d.quarantined_at",
      null,
      "Time an operator quarantined it. Only members can see a quarantined version, and no reference resolves to it",
    ),
  ),
  quarantineReason: nullableField(textField("d.quarantine_reason", null)),
} as const satisfies FieldMap;

/** The fields of a full definition. */
export const DEFINITION_FIELDS = {
  ...SUMMARY_FIELDS,
  yaml: textField("d.yaml", EXAMPLE_YAML),
  provenance: nullableField(field(Provenance, "d.provenance", null)),
  runtimeMd: nullableField(
    textField(
      "d.runtime_md",
      '---\nname: "reviewer"\n…',
      "The Markdown that coding agents load; null if rendering failed",
    ),
  ),
  translatorVersion: nullableField(textField("d.translator_version", "1.0.0")),
  translationError: nullableField(field(TranslationError, "d.translation_error", null)),
  schemaVersion: textField(`'${LANGUAGE_VERSION}'`, LANGUAGE_VERSION, "Version of the definition language"),
  riskProfile: nullableField(
    field(
      Type.Unsafe<object>({ type: "object" }),
      "d.risk_profile",
      null,
      "Result of the safety scan at publishing; null for drafts",
    ),
  ),
  deprecatedAt: nullableField(instantField("d.deprecated_at", null)),
  deprecationReason: nullableField(textField("d.deprecation_reason", null)),
  successor: nullableField(textField("d.successor", null)),
} as const satisfies FieldMap;

/** A full definition, with YAML and Markdown. */
export type Definition = FieldValues<typeof DEFINITION_FIELDS>;

const { id, type, name, version, authorId, orgId } = DEFINITION_FIELDS;

/** The fields that identify a version. */
export const NAMED_FIELDS = { id, type, name, version, authorId, orgId } as const satisfies FieldMap;

export type NamedVersion = FieldValues<typeof NAMED_FIELDS>;

/** The fields of a version in the history of its definition. */
export const VERSION_FIELDS = {
  id,
  version,
  status: DEFINITION_FIELDS.status,
  hash: DEFINITION_FIELDS.hash,
  promptHash: DEFINITION_FIELDS.promptHash,
  changeSummary: nullableField(textField("d.change_summary", "Says which file a finding is in")),
  changeType: wordField("d.change_type", CHANGE_TYPES, "minor", "Compared with the version before it"),
  createdAt: DEFINITION_FIELDS.createdAt,
  createdBy: authorId,
  quarantinedAt: DEFINITION_FIELDS.quarantinedAt,
  quarantineReason: DEFINITION_FIELDS.quarantineReason,
} as const satisfies FieldMap;

export type Version = FieldValues<typeof VERSION_FIELDS>;

/** The columns of a version that the service reads, with values that the caller may not see. Responses omit some of the columns. */
export const ROW_FIELDS = {
  ...DEFINITION_FIELDS,
  changeSummary: VERSION_FIELDS.changeSummary,
  changeType: VERSION_FIELDS.changeType,
  lineId: uuidField("d.line_id", null),
  orgSlug: textField("o.slug", null),
} as const satisfies FieldMap;

export type DefinitionRow = FieldValues<typeof ROW_FIELDS>;

/** A rendering, or the reason why rendering failed. */
export type DefinitionRuntime = Pick<
  DefinitionRow,
  "runtimeMd" | "promptHash" | "translatorVersion" | "translationError"
>;

/** The columns that are derived from a document, for new and changed versions. */
export type DefinitionContent = DefinitionRuntime &
  Pick<
    DefinitionRow,
    "yaml" | "hash" | "displayName" | "description" | "domain" | "subdomain" | "agentType" | "author" | "tags"
  >;
