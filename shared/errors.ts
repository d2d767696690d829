/** All error codes of the API, with their status, details and text. error_texts.ts contains further texts. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { InputProblem, RETRY_AFTER, row } from "./error_details.ts";
import { MISSING, QUOTAS } from "./error_texts.ts";
import { Instant, listOf, Natural, Nullable, oneOf, Text, Uuid } from "./schemas.ts";
import {
  DEFINITION_STATUSES,
  DEFINITION_TYPES,
  EXPORT_JOB_STATUSES,
  ORG_ROLES,
  PROOF_KINDS,
  SUBSCRIPTION_TIERS,
} from "./vocabulary.ts";

const Status = oneOf(DEFINITION_STATUSES);
const JobStatus = oneOf(EXPORT_JOB_STATUSES);

export const ERRORS = {
  VALIDATION_ERROR: row({
    status: 400,
    message: "The request has errors. details.errors lists them.",
    details: { errors: Type.Optional(listOf(InputProblem)), reason: Type.Optional(Text) },
  }),
  NOT_EDITABLE: row({
    status: 400,
    message: "Only drafts can be edited. Create a new version instead.",
    details: { status: Status },
  }),
  UNAUTHORIZED: {
    status: 401,
    headers: { "WWW-Authenticate": "Bearer" },
    message: "Authentication required. Send an API key or session token as Authorization: Bearer <token>.",
  },
  SUBSCRIPTION_REQUIRED: row({
    status: 402,
    message: "This requires a paid subscription.",
    details: {
      requiredTier: oneOf(SUBSCRIPTION_TIERS),
      currentTier: oneOf(SUBSCRIPTION_TIERS),
      feature: Text,
    },
    text: ({ requiredTier }) =>
      `This requires one of your organizations to be on the ${requiredTier} tier or above.`,
  }),
  ORG_ACCESS_DENIED: { status: 403, message: "You are not a member of this organization." },
  INSUFFICIENT_ORG_ROLE: row({
    status: 403,
    message: "Your role in this organization does not allow this.",
    details: { currentRole: oneOf(ORG_ROLES), requiredRole: oneOf(ORG_ROLES) },
    text: ({ currentRole, requiredRole }) =>
      `This requires the ${requiredRole} role or above. Your role in this organization is ${currentRole}.`,
  }),
  ROLE_REQUIRED: row({
    status: 403,
    message: "Your platform role does not allow this.",
    details: { requiredRole: Text },
    text: ({ requiredRole }) => `This requires the platform role ${requiredRole}.`,
  }),
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: 'This API key has the scope "read". Use a key with the scope "write".',
  },
  KEY_KIND_FORBIDDEN: row({
    status: 403,
    message: 'This kind of API key is not accepted here. Use a key of kind "user" or sign in.',
    details: { kind: Type.Optional(Text) },
  }),
  SESSION_REQUIRED: {
    status: 403,
    message: "API keys are not accepted here. Sign in with POST /api/v1/auth/login and use the session.",
  },
  SECOND_FACTOR_REQUIRED: row({
    status: 403,
    message: "This requires a second factor. Add or use one with /api/v1/auth/factors.",
    details: {
      loginToken: Type.Optional(Type.String({ description: "For the second step of a sign-in" })),
      methods: Type.Optional(listOf(oneOf(PROOF_KINDS), { description: "What the user can sign in with" })),
      expiresAt: Type.Optional(Instant({ description: "When the token stops working" })),
      maxAgeSeconds: Type.Optional(
        Type.Integer({ minimum: 0, description: "How long ago a second factor may have been used" }),
      ),
      organization: Type.Optional(
        Type.String({ description: "Slug of the organization that requires a second factor" }),
      ),
    },
    text: ({ organization }) =>
      organization &&
      `Organization "${organization}" requires a second factor. Add one to your account, or sign in with yours.`,
  }),
  FORBIDDEN_ORIGIN: {
    status: 403,
    message:
      "The request comes from a page of another site. Send it from a page of this service, or use an API key.",
  },
  SIGN_UP_DISABLED: {
    status: 403,
    message: "Sign-up is disabled on this service. Ask an operator for an account.",
  },
  NOT_FOUND: row({
    status: 404,
    message: "Not found. Check the name or id.",
    details: {
      reason: Type.String({
        description: "What was not found, such as `definition`, `version`, `model` or `route`",
      }),
      type: Type.Optional(oneOf(DEFINITION_TYPES)),
      name: Type.Optional(Text),
      id: Type.Optional(Text),
      suggestions: Type.Optional(listOf(Text, { description: "Similar names" })),
      kind: Type.Optional(Type.String({ description: "The kind of token without a price" })),
      pricesKnownSince: Type.Optional(Nullable(Instant())),
    },
    text: ({ reason }) => MISSING[reason],
  }),
  PROJECT_NOT_FOUND: { status: 404, message: "Project not found. Check its name or id." },
  ORG_NOT_FOUND: { status: 404, message: "Organization not found. Check its slug." },
  EXPORT_JOB_NOT_FOUND: {
    status: 404,
    message: "Export job not found. List export jobs with GET /api/v1/export/jobs.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "Method not allowed. The Allow header lists the methods of this path.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: "The body did not arrive within 30 s. Nothing was written. Send the request again.",
  },
  AMBIGUOUS_ORGANIZATION: row({
    status: 409,
    message: "Several of your organizations have a definition of this name. Set X-Org-Slug to choose one.",
    details: { organizations: listOf(Text, { description: "Their slugs" }) },
  }),
  LAST_OWNER: {
    status: 409,
    message: "The organization would have no owner. Make another member an owner first.",
  },
  QUOTA_EXCEEDED: row({
    status: 409,
    message: "The quota is used up.",
    details: { quota: Text, limit: Natural },
    text: ({ quota, limit }) =>
      QUOTAS[quota]?.(limit) ?? `The quota of ${limit.toLocaleString("en-US")} ${quota} is used up.`,
  }),
  EDIT_CONFLICT: row({
    status: 409,
    message: "The version has changed since you read it. Read it again, then repeat your change.",
    details: { updatedAt: Instant(), status: Status },
  }),
  INVALID_TRANSITION: row({
    status: 409,
    message: "The version cannot change to this status. details.allowedTransitions lists the possible ones.",
    details: {
      from: Status,
      to: Status,
      allowedTransitions: listOf(Status),
      applicationState: oneOf(["not_applied"]),
    },
  }),
  VERSION_EXISTS: row({
    status: 409,
    message: "The definition already has this version. Use another one.",
    details: { nextAvailable: Nullable(Text) },
  }),
  NAME_TAKEN: row({
    status: 409,
    message: "The organization already has a definition with this name. Choose another name.",
    details: { type: oneOf([...DEFINITION_TYPES, "organization", "project"]), name: Text },
  }),
  NOT_FORKABLE: row({
    status: 409,
    message: "The definition cannot be forked in its current status. Fork another version.",
    details: { reason: Text },
  }),
  NOT_DELETABLE: row({
    status: 409,
    message: "Only drafts can be deleted.",
    details: { status: Type.Optional(Status) },
  }),
  ALREADY_DUAL_STORAGE: row({
    status: 409,
    message: "The latest version already has Markdown. There is nothing to upgrade.",
    details: { version: Text },
  }),
  EXPORT_JOB_RUNNING: row({
    status: 409,
    message: "The export job is running. Add ?force=true to cancel it.",
    details: { status: JobStatus },
  }),
  EXPORT_JOB_FINISHED: row({
    status: 409,
    message: "The export job has already finished, so it cannot be canceled.",
    details: { status: JobStatus },
  }),
  EXPORT_NOT_READY: row({
    status: 409,
    message: "The export is not ready yet. Poll the export job until its status is ready.",
    retryAfter: RETRY_AFTER.build,
    details: { status: JobStatus },
  }),
  EXPORT_JOB_FAILED: row({
    status: 409,
    message: "The export job failed. Start a new export.",
    details: { errorCode: Nullable(Text) },
  }),
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still running. Retry after the time in Retry-After.",
    retryAfter: RETRY_AFTER.conflict,
  },
  IDEMPOTENCY_KEY_USED: row({
    status: 409,
    message:
      "A request with this Idempotency-Key has already succeeded, but its response is not stored. details names what it changed.",
    details: { type: Type.Optional(Text), id: Type.Optional(Uuid()) },
  }),
  EXPORT_EXPIRED: row({
    status: 410,
    message: "The export has expired. Start a new export.",
    details: { expiresAt: Nullable(Instant()) },
  }),
  EXPORT_TOO_LARGE: row({
    status: 413,
    message: "The export is too large to stream. Start an export job instead.",
    details: {
      rows: Type.Integer({ minimum: 0, description: "The export has at least this many rows" }),
      limit: Natural,
      asyncEndpoint: Text,
    },
    text: ({ rows, limit, asyncEndpoint }) =>
      `The export has at least ${rows.toLocaleString("en-US")} rows; up to ${limit.toLocaleString("en-US")} can be streamed. Start an export job with POST ${asyncEndpoint} instead.`,
  }),
  PAYLOAD_TOO_LARGE: row({
    status: 413,
    message: "The request body is too large.",
    details: { maxSize: Type.Integer({ minimum: 0, description: "Bytes" }) },
    text: ({ maxSize }) => `The request body is too large. Send at most ${maxSize} bytes.`,
  }),
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "Unsupported content type. Send application/json." },
  RANGE_NOT_SATISFIABLE: row({
    status: 416,
    message: "The requested range lies beyond the end of the file.",
    details: { bytes: Natural },
    text: ({ bytes }) => `The requested range lies beyond the end of the file, which has ${bytes} bytes.`,
  }),
  UNPROCESSABLE_ENTITY: row({
    status: 422,
    message: "The content has errors. details.errors lists them.",
    details: {
      errors: Type.Optional(listOf(InputProblem)),
      reason: Type.Optional(Text),
      dataset: Type.Optional(Text),
      column: Type.Optional(Text),
      time: Type.Optional(Text),
      id: Type.Optional(Text),
    },
  }),
  DEPENDENCY_CYCLE: row({
    status: 422,
    message: "The definition depends on itself. Remove one of the references in details.cycle.",
    details: { cycle: Type.Optional(listOf(Text)) },
  }),
  NAME_MISMATCH: row({
    status: 422,
    message: "The name in the YAML differs from the name in the path. Make them equal.",
    details: { documentName: Text, pathName: Text },
    text: ({ documentName, pathName }) =>
      `The YAML has the name "${documentName}", but the path has "${pathName}". Make them equal.`,
  }),
  VERSION_MISMATCH: row({
    status: 422,
    message: "The version in the YAML differs from the version in the path. Make them equal.",
    details: { documentVersion: Text, pathVersion: Text },
    text: ({ documentVersion, pathVersion }) =>
      `The YAML has version "${documentVersion}", but the path has "${pathVersion}". Make them equal.`,
  }),
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was used for a different request. Use a new key for each request.",
  },
  TRANSLATION_FAILED: row({
    status: 422,
    message: "The YAML cannot be rendered as Markdown. Correct the part that details.path names.",
    details: { reason: Text, path: Text },
  }),
  RATE_LIMITED: row({
    status: 429,
    message: "Too many requests. Retry after the time in Retry-After.",
    retryAfter: RETRY_AFTER.queue,
    details: { share: Type.Optional(Text), limit: Type.Optional(Natural) },
  }),
  EXPORT_JOB_LIMIT: row({
    status: 429,
    message:
      "The organization has queued its maximum of export jobs this hour. Retry after the time in Retry-After.",
    details: { limit: Natural },
    text: ({ limit }) =>
      `The organization has queued ${limit} export jobs within an hour, the maximum. Retry after the time in Retry-After.`,
  }),
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: "Internal error. If this keeps happening, contact support with the request ID.",
  },
  SERVICE_UNAVAILABLE: row({
    status: 503,
    message: "The service is temporarily unavailable. Retry after the time in Retry-After.",
    retryAfter: RETRY_AFTER.database,
    details: { checks: Type.Optional(Type.Record(Text, Text)) },
  }),
  EXPORT_PREPARE_TIMEOUT: row({
    status: 504,
    message: "Counting the rows took too long. Start an export job instead.",
    details: { asyncEndpoint: Text },
  }),
} as const;

export type ErrorCode = keyof typeof ERRORS;

export type ErrorDetails<Code extends ErrorCode> = (typeof ERRORS)[Code] extends {
  details: infer Details extends TObject;
}
  ? Static<Details>
  : Readonly<Record<string, unknown>>;

export interface ApiErrorOptions<Code extends ErrorCode = ErrorCode> {
  /** A message for this case, if the code and its details are not sufficient. */
  message?: string | undefined;
  /**
   * The details. They are type-checked if `Code` is one code. A forwarded error, whose code is known only at run time, may have any
   * details.
   */
  details?: (ErrorCode extends Code ? Readonly<Record<string, unknown>> : ErrorDetails<Code>) | undefined;
  /** The number of seconds for `Retry-After`; the code's default if omitted. */
  retryAfter?: number;
  /** Response headers other than `Retry-After`. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** A row of the table of errors, for any code. */
interface AnyRow {
  status: number;
  message: string;
  retryAfter?: number;
  headers?: Readonly<Record<string, string>>;
  text?(details: object): string | undefined;
}

/** An error that is sent to the client. Any other error becomes INTERNAL_SERVER_ERROR. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: Code, options: ApiErrorOptions<Code> = {}) {
    const row: AnyRow = ERRORS[code] as AnyRow;
    const { details, retryAfter = row.retryAfter } = options;
    super(
      options.message ?? (details && row.text?.(details)) ?? row.message,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = "ApiError";
    this.code = code;
    this.details = details;
    this.headers = {
      ...(retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) }),
      ...row.headers,
      ...options.headers,
    };
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
