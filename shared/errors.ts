/** Every error code of the API, with its status and default message. */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, message: "Invalid request." },
  NOT_EDITABLE: { status: 400, message: "Only drafts can be edited. Create a new version instead." },
  UNAUTHORIZED: {
    status: 401,
    message: "Authentication required. Send an API key or session token as Authorization: Bearer <token>.",
  },
  SUBSCRIPTION_REQUIRED: {
    status: 402,
    message: "This requires a paid subscription.",
  },
  ORG_ACCESS_DENIED: { status: 403, message: "You are not a member of this organization." },
  INSUFFICIENT_ORG_ROLE: { status: 403, message: "Your role in this organization does not allow this." },
  ROLE_REQUIRED: { status: 403, message: "Your platform role does not allow this." },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: 'This API key has the scope "read". Use a key with the scope "write".',
  },
  KEY_KIND_FORBIDDEN: {
    status: 403,
    message: 'This kind of API key is not accepted here. Use a key of kind "user" or sign in.',
  },
  SESSION_REQUIRED: {
    status: 403,
    message: "API keys are not accepted here. Sign in with POST /api/v1/auth/login and use the session.",
  },
  SECOND_FACTOR_REQUIRED: {
    status: 403,
    message: "This requires a second factor. Add or use one with /api/v1/auth/factors.",
  },
  FORBIDDEN_ORIGIN: {
    status: 403,
    message:
      "The request comes from a page of another site. Send it from a page of this service, or use an API key.",
  },
  SIGN_UP_DISABLED: {
    status: 403,
    message: "Sign-up is disabled on this service. Ask an operator for an account.",
  },
  NOT_FOUND: { status: 404, message: "Resource not found." },
  PROJECT_NOT_FOUND: { status: 404, message: "Project not found." },
  ORG_NOT_FOUND: { status: 404, message: "Organization not found." },
  EXPORT_JOB_NOT_FOUND: { status: 404, message: "Export job not found." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "Method not allowed. The Allow header lists the methods of this path.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    message: "The body did not arrive within 30 s. Nothing was written. Send the request again.",
  },
  AMBIGUOUS_ORGANIZATION: {
    status: 409,
    message: "Several of your organizations have a definition of this name. Set X-Org-Slug to choose one.",
  },
  LAST_OWNER: {
    status: 409,
    message: "The organization would have no owner. Make another member an owner first.",
  },
  QUOTA_EXCEEDED: { status: 409, message: "The quota is used up." },
  EDIT_CONFLICT: {
    status: 409,
    message: "The version has changed since you read it. Read it again, then repeat your change.",
  },
  INVALID_TRANSITION: {
    status: 409,
    message: "The definition cannot move to this state from its current one.",
  },
  VERSION_EXISTS: { status: 409, message: "The definition already has this version." },
  NAME_TAKEN: {
    status: 409,
    message: "The organization already has a definition with this name. Choose another name.",
  },
  NOT_FORKABLE: { status: 409, message: "The definition cannot be forked in its current state." },
  NOT_DELETABLE: { status: 409, message: "Only drafts can be deleted." },
  ALREADY_DUAL_STORAGE: {
    status: 409,
    message: "The latest version already has a runtime text.",
  },
  EXPORT_JOB_RUNNING: {
    status: 409,
    message: "The build of this export is running. Add ?force=true to stop it.",
  },
  EXPORT_JOB_FINISHED: { status: 409, message: "The export job has already finished." },
  EXPORT_NOT_READY: {
    status: 409,
    message: "The export is not built yet. Poll the job until its status is ready.",
  },
  EXPORT_JOB_FAILED: { status: 409, message: "The build of this export failed. Start a new export." },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still running. Retry after the time in Retry-After.",
  },
  IDEMPOTENCY_KEY_USED: {
    status: 409,
    message:
      "A request with this Idempotency-Key was carried out, but its response is not kept. Details has the id of what it wrote.",
  },
  EXPORT_EXPIRED: { status: 410, message: "The export has expired. Start a new one." },
  EXPORT_TOO_LARGE: {
    status: 413,
    message: "The export is too large to stream. Start an export job instead.",
  },
  PAYLOAD_TOO_LARGE: { status: 413, message: "The request body is too large." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "Unsupported content type. Send application/json." },
  RANGE_NOT_SATISFIABLE: { status: 416, message: "The requested range lies beyond the end of the file." },
  UNPROCESSABLE_ENTITY: { status: 422, message: "Invalid content." },
  DEPENDENCY_CYCLE: { status: 422, message: "The definition depends on itself." },
  NAME_MISMATCH: { status: 422, message: "The name in the document differs from the name in the path." },
  VERSION_MISMATCH: {
    status: 422,
    message: "The version in the document differs from the version in the path.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was used for a different request. Use a new key for each request.",
  },
  TRANSLATION_FAILED: { status: 422, message: "The document cannot be rendered as Markdown." },
  RATE_LIMITED: { status: 429, message: "Rate limit exceeded. Retry after the time in Retry-After." },
  EXPORT_JOB_LIMIT: { status: 429, message: "The organization has used up its export jobs for this hour." },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    message: "Internal error. If this keeps happening, contact support with the request ID.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: "The service is temporarily unavailable. Retry after the time in Retry-After.",
  },
  EXPORT_PREPARE_TIMEOUT: {
    status: 504,
    message: "Counting the rows took too long. Start an export job instead.",
  },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface ApiErrorOptions {
  /** A message for this case, with the values involved; the code's default when omitted. */
  message?: string;
  details?: Readonly<Record<string, unknown>>;
  /** Response headers, such as `Retry-After`. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** An error that the client sees. Anything else that is thrown becomes INTERNAL_SERVER_ERROR. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(
      options.message ?? ERRORS[code].message,
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = "ApiError";
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
