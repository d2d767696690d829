/** The schemas of errors: one for each code, so that a client that compares the code knows the details. */

import type { ErrorCode } from "../../shared/errors.ts";
import {
  COUNT,
  ID,
  INSTANT,
  type JsonSchema,
  listOf,
  named,
  nullable,
  oneOf,
  record,
  TEXT,
} from "../../shared/json_schema.ts";
import {
  DEFINITION_STATUSES,
  DEFINITION_TYPES,
  EXPORT_JOB_STATUSES,
  ORG_ROLES,
  PROOF_KINDS,
  SUBSCRIPTION_TIERS,
} from "../../shared/vocabulary.ts";

const STATUS = oneOf(DEFINITION_STATUSES);
const JOB_STATUS = oneOf(EXPORT_JOB_STATUSES);
const LINE = { type: "integer", minimum: 1, description: "From 1" };

const PROBLEM = {
  ...record(
    {
      path: { ...TEXT, description: "Path of the value; empty for the whole document or body" },
      message: TEXT,
      code: { ...TEXT, description: "Error code of this problem; only for documents" },
      index: { ...COUNT, description: "Position of the document in a batch, from 0" },
      line: LINE,
      column: LINE,
    },
    ["path", "code", "index", "line", "column"],
  ),
  additionalProperties: true,
};

/** The fields of `details`. Those that are not there with every error of the code are optional. */
const DETAILS: Partial<Record<ErrorCode, readonly [fields: Record<string, object>, optional?: string[]]>> = {
  VALIDATION_ERROR: optional({ errors: listOf(named("InputProblem", PROBLEM)), reason: TEXT }),
  NOT_EDITABLE: [{ status: STATUS }],
  SUBSCRIPTION_REQUIRED: [
    { requiredTier: oneOf(SUBSCRIPTION_TIERS), currentTier: oneOf(SUBSCRIPTION_TIERS), feature: TEXT },
  ],
  INSUFFICIENT_ORG_ROLE: [{ currentRole: oneOf(ORG_ROLES), requiredRole: oneOf(ORG_ROLES) }],
  ROLE_REQUIRED: [{ requiredRole: TEXT }],
  KEY_KIND_FORBIDDEN: optional({ kind: TEXT }),
  SECOND_FACTOR_REQUIRED: optional({
    loginToken: { ...TEXT, description: "For the second step of a sign-in" },
    methods: { ...listOf(oneOf(PROOF_KINDS)), description: "What the user can sign in with" },
    expiresAt: { ...INSTANT, description: "When the token stops working" },
    maxAgeSeconds: { ...COUNT, description: "How long ago a second factor may have been used" },
    organization: { ...TEXT, description: "Slug of the organization that requires a second factor" },
  }),
  NOT_FOUND: [
    {
      reason: {
        ...TEXT,
        description: "What was not found, such as `definition`, `version`, `model` or `route`",
      },
      type: oneOf(DEFINITION_TYPES),
      name: TEXT,
      id: TEXT,
      suggestions: { ...listOf(TEXT), description: "Similar names" },
      kind: { ...TEXT, description: "The kind of token without a price" },
      pricesKnownSince: nullable(INSTANT),
    },
    ["type", "name", "id", "suggestions", "kind", "pricesKnownSince"],
  ],
  AMBIGUOUS_ORGANIZATION: [{ organizations: { ...listOf(TEXT), description: "Their slugs" } }],
  QUOTA_EXCEEDED: [{ quota: TEXT, limit: COUNT }],
  EDIT_CONFLICT: [{ updatedAt: INSTANT, status: STATUS }],
  INVALID_TRANSITION: [
    {
      from: STATUS,
      to: STATUS,
      allowedTransitions: listOf(STATUS),
      applicationState: oneOf(["not_applied"]),
    },
  ],
  VERSION_EXISTS: [{ nextAvailable: TEXT }],
  NAME_TAKEN: [{ type: oneOf([...DEFINITION_TYPES, "organization", "project"]), name: TEXT }],
  NOT_FORKABLE: [{ reason: TEXT }],
  NOT_DELETABLE: optional({ status: STATUS }),
  ALREADY_DUAL_STORAGE: [{ version: TEXT }],
  EXPORT_JOB_RUNNING: [{ status: JOB_STATUS }],
  EXPORT_JOB_FINISHED: [{ status: JOB_STATUS }],
  EXPORT_NOT_READY: [{ status: JOB_STATUS }],
  EXPORT_JOB_FAILED: [{ errorCode: nullable(TEXT) }],
  IDEMPOTENCY_KEY_USED: optional({ type: TEXT, id: ID }),
  EXPORT_EXPIRED: [{ expiresAt: nullable(INSTANT) }],
  EXPORT_TOO_LARGE: [
    {
      rows: { ...COUNT, description: "The export has at least this many rows" },
      limit: COUNT,
      asyncEndpoint: TEXT,
    },
  ],
  PAYLOAD_TOO_LARGE: [{ maxSize: { ...COUNT, description: "Bytes" } }],
  RANGE_NOT_SATISFIABLE: [{ bytes: COUNT }],
  UNPROCESSABLE_ENTITY: optional({
    errors: listOf(named("InputProblem", PROBLEM)),
    reason: TEXT,
    dataset: TEXT,
    column: TEXT,
    time: TEXT,
    id: TEXT,
  }),
  DEPENDENCY_CYCLE: optional({ cycle: listOf(TEXT) }),
  NAME_MISMATCH: [{ documentName: TEXT, pathName: TEXT }],
  VERSION_MISMATCH: [{ documentVersion: TEXT, pathVersion: TEXT }],
  TRANSLATION_FAILED: [{ reason: TEXT, path: TEXT }],
  RATE_LIMITED: optional({ share: TEXT, limit: COUNT }),
  EXPORT_JOB_LIMIT: [{ limit: COUNT }],
  SERVICE_UNAVAILABLE: optional({ checks: { type: "object", additionalProperties: TEXT } }),
  EXPORT_PREPARE_TIMEOUT: [{ asyncEndpoint: TEXT }],
};

function optional(fields: Record<string, object>): [Record<string, object>, string[]] {
  return [fields, Object.keys(fields)];
}

/** Such as `ExportTooLarge`. */
export function pascalCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/(?:^|[^a-z0-9]+)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The form of `details`. Clients bear fields that they do not know, as more may come. */
function detailsSchema(code: ErrorCode): JsonSchema {
  const [fields, optionalNames] = DETAILS[code] ?? [];
  if (!fields) return { type: "object", additionalProperties: true };
  return { ...record(fields, optionalNames), additionalProperties: true };
}

/** Such as `ExportTooLargeError`. */
function titleOf(code: ErrorCode): string {
  return `${pascalCase(code).replace(/Error$/, "")}Error`;
}

function errorSchema(code: ErrorCode): JsonSchema {
  return named(
    titleOf(code),
    record(
      {
        code: oneOf([code]),
        message: TEXT,
        requestId: TEXT,
        details: detailsSchema(code),
      },
      ["details"],
    ),
  );
}

/** Describes the body of an error response with one of these codes. */
export function errorEnvelope(codes: readonly ErrorCode[]): JsonSchema {
  const [only, ...others] = codes;
  if (only && others.length === 0) return record({ error: errorSchema(only) });
  const mapping = codes.map((code) => [code, `#/components/schemas/${titleOf(code)}`]);
  return record({
    error: {
      oneOf: codes.map(errorSchema),
      discriminator: { propertyName: "code", mapping: Object.fromEntries(mapping) },
    },
  });
}
