/** The allowed values of the API's enumerations. Tests compare them with the CHECK constraints of the database. */

export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** The names of the formats in pages and mails. */
export const FORMAT_NAMES = { ndjson: "NDJSON", csv: "CSV", parquet: "Parquet" } as const satisfies Record<
  ExportFormat,
  string
>;
/** Formats with one line per row. */
export const TEXT_EXPORT_FORMATS = ["ndjson", "csv"] as const satisfies readonly ExportFormat[];
export type TextExportFormat = (typeof TEXT_EXPORT_FORMATS)[number];

export const EXPORT_JOB_STATUSES = ["queued", "running", "ready", "expired", "failed"] as const;
/** The status of an export job. `ready`, `expired` and `failed` are final. */
export type ExportJobStatus = (typeof EXPORT_JOB_STATUSES)[number];

export const EXPORT_JOB_ERROR_CODES = [
  "CANCELED",
  "BUILD_TIMEOUT",
  "BUILD_FAILED",
  "ARTIFACT_STORAGE_FAILED",
  "ORGANIZATION_GONE",
] as const;
export type ExportJobErrorCode = (typeof EXPORT_JOB_ERROR_CODES)[number];

export const BUILD_FAULTS = ["storage", "database"] as const;
/** The unavailable resource for which the job of a build waits. */
export type BuildFault = (typeof BUILD_FAULTS)[number];

export const DEFINITION_EVENT_TYPES = [
  "definition.published",
  "definition.deprecated",
  "definition.archived",
] as const;
export type DefinitionEventType = (typeof DEFINITION_EVENT_TYPES)[number];

export const EVENT_TYPES = [
  "export.ready",
  "export.failed",
  ...DEFINITION_EVENT_TYPES,
  "model.added",
  "model.gone",
  "model.price_changed",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const WEBHOOK_DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

export const SUBSCRIPTION_TIERS = ["free", "hobbyist", "plus", "pro", "enterprise"] as const;
/** The subscription tier of an organization. The tiers are in ascending order. */
export type SubscriptionTier = (typeof SUBSCRIPTION_TIERS)[number];

export const ORG_ROLES = ["viewer", "publisher", "admin", "owner"] as const;
/** The role of a member in an organization. The roles are in ascending order. */
export type OrgRole = (typeof ORG_ROLES)[number];

export const PLATFORM_ROLES = ["user", "admin"] as const;
export type PlatformRole = (typeof PLATFORM_ROLES)[number];

export const KEY_KINDS = ["user", "automation", "system"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const KEY_SCOPES = ["read", "write"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const FACTOR_KINDS = ["totp", "passkey"] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

/** The means by which users can authenticate in addition to the password. */
export const PROOF_KINDS = [...FACTOR_KINDS, "recovery_code"] as const;
export type ProofKind = (typeof PROOF_KINDS)[number];

export const AUDIT_ACTOR_TYPES = ["user", "operator", "service", "anonymous"] as const;
export type AuditActorType = (typeof AUDIT_ACTOR_TYPES)[number];

export const DEFINITION_TYPES = ["agent", "command", "workflow", "pipeline"] as const;
export type DefinitionType = (typeof DEFINITION_TYPES)[number];

export const DEFINITION_STATUSES = ["draft", "published", "deprecated", "archived"] as const;
export type DefinitionStatus = (typeof DEFINITION_STATUSES)[number];

export const DEFINITION_VISIBILITIES = ["private", "unlisted", "public"] as const;
export type DefinitionVisibility = (typeof DEFINITION_VISIBILITIES)[number];

export const DEFINITION_TIERS = ["user", "org", "pro"] as const;
export type DefinitionTier = (typeof DEFINITION_TIERS)[number];

export const DEFINITION_DOMAINS = [
  "software",
  "security",
  "compliance",
  "legal",
  "medical",
  "financial",
  "scientific",
  "content",
  "general",
  "career",
  "business",
  "education",
  "documentation",
  "cognitive-lens",
] as const;
export type DefinitionDomain = (typeof DEFINITION_DOMAINS)[number];

export const DEFINITION_AGENT_TYPES = [
  "validator",
  "executor",
  "analyst",
  "generator",
  "explorer",
  "forecaster",
] as const;
export type DefinitionAgentType = (typeof DEFINITION_AGENT_TYPES)[number];

export const AUTHORSHIP_TYPES = ["human", "agent", "collaborative", "automated"] as const;

export const CHANGE_TYPES = ["major", "minor", "patch"] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

export const FORK_DENIALS = [
  "NOT_PUBLISHED",
  "ARCHIVED",
  "INSUFFICIENT_ORG_ROLE",
  "UNAUTHENTICATED",
] as const;
/** The reasons why a caller cannot fork a definition. */
export type ForkDenial = (typeof FORK_DENIALS)[number];

export const CONTRIBUTOR_ROLES = ["author", "optimizer", "reviewer", "editor", "publisher"] as const;

export const CONTRIBUTOR_TYPES = ["human", "agent"] as const;

export const ISSUE_STATUSES = [
  "open",
  "completed",
  "deferred",
  "wontfix",
  "merged",
  "false-positive",
  "observation",
] as const;

/** The statuses that `include_resolved=false` excludes. */
export const RESOLVED_ISSUE_STATUSES = ["completed", "wontfix", "false-positive"] as const;

/** The kinds of entries in the change log of tracker rows (docs/increments.md). */
export const TRACKER_CHANGE_KINDS = ["row", "visibility", "deletion"] as const;
export type TrackerChangeKind = (typeof TRACKER_CHANGE_KINDS)[number];

export const ISSUE_PRIORITIES = ["critical", "high", "suggested", "backlog"] as const;

export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

export const FAILURE_DOMAINS = ["STR", "SEM", "PRA", "EPI"] as const;

export const FAILURE_SEVERITY_CODES = ["C", "H", "M", "L", "I"] as const;

export const CLASSIFICATION_CONFIDENCES = ["high", "medium", "low"] as const;

export const CLASSIFIERS = ["agent", "classifier", "human"] as const;

export const CORRELATION_STATUSES = ["new", "recurring", "regression", "observed"] as const;

export const NOTE_TYPES = ["context", "resolution", "blocker"] as const;

export const TRANSITION_TYPES = ["change", "undo"] as const;

export const AGENT_TYPES = [
  "validator",
  "analyst",
  "explorer",
  "forecaster",
  "executor",
  "generator",
  "unknown",
] as const;

export const MODEL_TIERS = ["budget", "standard", "premium", "reasoning"] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

export const MODEL_TIER_SOURCES = ["reasoner", "price", "peers", "free", "unpriced"] as const;
/** The rule that determined a model's tier (`shared/models/tiers.ts`). */
export type ModelTierSource = (typeof MODEL_TIER_SOURCES)[number];

export const MODEL_STATUSES = ["available", "preview", "deprecated"] as const;
export type ModelStatus = (typeof MODEL_STATUSES)[number];

export const MODEL_CAPABILITIES = [
  "vision",
  "tools",
  "streaming",
  "reasoning",
  "structuredOutput",
  "attachment",
] as const;
export type ModelCapability = (typeof MODEL_CAPABILITIES)[number];

export const MODEL_ALIAS_ORIGINS = ["generated", "manual"] as const;
/** The origin of an alias: the sync or an operator. An operator's alias takes precedence. */
export type ModelAliasOrigin = (typeof MODEL_ALIAS_ORIGINS)[number];

export const MODEL_ALIAS_SCOPES = ["global"] as const;
export type ModelAliasScope = (typeof MODEL_ALIAS_SCOPES)[number];

export const PRICE_FIELDS = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "reasoning",
  "inputAudio",
  "outputAudio",
] as const;
/** The kinds of tokens that have their own price. */
export type PriceField = (typeof PRICE_FIELDS)[number];

export const CATALOG_SYNC_OUTCOMES = ["changed", "unchanged", "refused", "failed"] as const;
/** The outcome of a catalog sync. `refused`: the document was not trusted. `failed`: the document could not be loaded or stored. */
export type CatalogSyncOutcome = (typeof CATALOG_SYNC_OUTCOMES)[number];
