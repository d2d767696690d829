/** Every environment variable of the configuration, with its default, its bounds and what it is for. */
import { type Static, Type } from "@sinclair/typebox";
import { Cron } from "croner";

const MAX_INT32 = 2_147_483_647;

/** Every variable: `default` stands in for an unset one, `description` is what a refusal says it must be. */
export const Environment = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: "^postgres(ql)?://.+",
      description: "a postgres:// URL of PostgreSQL 15 or later",
    }),
  ),
  DATABASE_DIRECT_URL: Type.Optional(
    Type.String({
      pattern: "^postgres(ql)?://.+",
      description: "a postgres:// URL of the same database past any connection pooler",
    }),
  ),
  DATABASE_REPLICA_URL: Type.Optional(
    Type.String({
      pattern: "^postgres(ql)?://.+",
      description: "a postgres:// URL of one streaming replica of DATABASE_URL",
    }),
  ),
  DATABASE_POOL_MAX: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 1000,
    description: "connections per process for requests",
  }),
  EXPORT_STREAMS_MAX: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 1000,
    description: "concurrent export streams per process, on connections of their own",
  }),
  EXPORT_STREAMS_PER_USER: Type.Integer({
    default: 2,
    minimum: 1,
    maximum: 1000,
    description: "export streams of one user at once, per process",
  }),
  EXPORT_STREAMS_PER_ORG: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: "export streams of one organization at once, per process",
    }),
  ),
  EXPORT_STREAM_MAX_MINUTES: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 1440,
    description: "longest life of a streamed export, in minutes",
  }),
  EXPORT_IGNORE_APPLICATIONS: Type.Optional(
    Type.String({
      // PostgreSQL cuts longer names, and replaces other characters.
      pattern: "^[ -+\\--~]{1,63}(,[ -+\\--~]{1,63})*$",
      description: "application names of database sessions, separated by commas",
    }),
  ),
  HOST: Type.String({ default: "127.0.0.1", minLength: 1, description: "address to listen on" }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65_535, description: "port to listen on" }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: "^https?://[^\\s]+$",
      description: "an http(s) URL, for links in emails and headers",
    }),
  ),
  DATA_DIR: Type.String({
    default: ".data",
    minLength: 1,
    description: "embedded database, artifacts, mail",
  }),
  ARTIFACT_URL: Type.Optional(
    Type.String({
      pattern: "^(file:///|s3://[a-z0-9][a-z0-9.-]+(/|$))[^?#\\s]*$",
      description: "where finished exports are kept: a file:/// URL of a directory, or s3://bucket/prefix",
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    Type.String({
      pattern: "^https?://[^\\s/?#@]+/?$",
      description: "an http(s) URL of an S3-compatible service, without a path",
    }),
  ),
  S3_REGION: Type.String({
    default: "us-east-1",
    pattern: "^[a-z0-9-]+$",
    description: "the name of the bucket's region",
  }),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String({ pattern: "^\\S+$", description: "text without spaces" })),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String({ pattern: "^\\S+$", description: "text without spaces" })),
  CATALOG_SOURCE: Type.String({
    default: "https://models.dev/api.json",
    // An address without TLS is one of this machine; whatever has no scheme is a path.
    pattern:
      "^(?:https://\\S+|http://(?:[^\\s/@]*@)?(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\])(?::\\d+)?(?:[/?#]\\S*)?|(?![A-Za-z][A-Za-z0-9+.-]*://).+)$",
    description: "bundled, a file's path, or an https URL (http for a loopback address)",
  }),
  CATALOG_SYNC_CRON: Type.String({
    default: "23 */6 * * *",
    description: "a cron expression of five fields, in UTC, that comes true",
  }),
  EXPORT_SYNC_MAX_ROWS: Type.Integer({
    default: 250_000,
    minimum: 0,
    maximum: MAX_INT32,
    description: "rows of one streamed dataset",
  }),
  EXPORT_BUNDLE_MAX_ROWS: Type.Integer({
    default: 500_000,
    minimum: 0,
    maximum: MAX_INT32,
    description: "rows of a bundle, the eight datasets together",
  }),
  EXPORT_PREPARE_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 3_600_000,
    description: "milliseconds for counting before a bundle's first byte",
  }),
  EXPORT_JOBS_PER_HOUR: Type.Integer({
    default: 5,
    minimum: 1,
    maximum: 100_000,
    description: "new export jobs per organization in any 60 minutes",
  }),
  EXPORT_RETENTION_HOURS: Type.Integer({
    default: 72,
    minimum: 1,
    maximum: 87_600,
    description: "life of an organization export after it became ready",
  }),
  EXPORT_BUILD_TIMEOUT_MINUTES: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 1380,
    description: "minutes for one attempt of building an organization export",
  }),
  EXPORT_SWEEP_CRON: Type.String({
    default: "*/5 * * * *",
    description: "five cron fields (UTC) that come due at some time: when expired exports are deleted",
  }),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: "^smtps?://\\S+$",
      description: "an smtp:// or smtps:// URL with user and password percent-encoded",
    }),
  ),
  MAIL_FROM: Type.String({
    default: "ulr <no-reply@localhost>",
    // A name, quoted where it has a comma, before an address in angle brackets; or an address alone.
    pattern:
      '^(?:(?:"[^"<>\\\\\\r\\n]+" |[^",;:<>@\\r\\n]+ )?<[^\\s<>@,]+@[^\\s<>@,]+>|[^\\s<>@,]+@[^\\s<>@,]+)$',
    description: "one email address, perhaps with a name: `ulr <no-reply@example.com>`",
  }),
  SECURITY_CONTACT: Type.Optional(
    Type.String({
      pattern: "^(mailto:[^\\s@]+@[^\\s@]+|https://\\S+|tel:\\+[0-9-]+)$",
      description: "a mailto:, https: or tel: URI, for /.well-known/security.txt",
    }),
  ),
  AUDIT_RETENTION_DAYS: Type.Integer({
    default: 400,
    minimum: 400,
    maximum: 36_500,
    description: "days that audit entries are kept",
  }),
  EXECUTION_RETENTION_DAYS: Type.Integer({
    default: 400,
    // Statistics cover thirty days.
    minimum: 31,
    maximum: 36_500,
    description: "days that recorded executions are kept",
  }),
  EXPORT_JOB_RETENTION_DAYS: Type.Integer({
    default: 400,
    minimum: 1,
    maximum: 36_500,
    description: "days that finished export jobs stay in lists",
  }),
  SESSION_RETENTION_DAYS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 36_500,
    description: "days that ended sessions are kept",
  }),
  SESSION_TTL_HOURS: Type.Integer({
    default: 336,
    minimum: 1,
    maximum: 87_600,
    description: "life of a session",
  }),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: Type.Integer({
    default: 120,
    minimum: 1,
    maximum: MAX_INT32,
    description: "requests per client address (of IPv6 per /64) without a credential",
  }),
  RATE_LIMIT_USER_PER_MINUTE: Type.Integer({
    default: 1200,
    minimum: 1,
    maximum: MAX_INT32,
    description: "requests per user, whatever the credential",
  }),
  RATE_LIMIT_LOGIN_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 10_000,
    description: "attempts to sign in, per client address and per account",
  }),
  TRUST_PROXY: Type.Boolean({
    default: false,
    description: "true: the client address is the last hop of X-Forwarded-For",
  }),
  SHUTDOWN_DELAY_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 300,
    description: "seconds that the API still accepts requests after SIGTERM",
  }),
  METRICS_HOST: Type.String({
    default: "127.0.0.1",
    minLength: 1,
    description: "address of METRICS_PORT",
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 65_535, description: "port of metrics and health" }),
  ),
  LOG_LEVEL: Type.Union(
    ["fatal", "error", "warn", "info", "debug", "trace", "silent"].map((level) => Type.Literal(level)),
    { default: "info", description: "fatal, error, warn, info, debug, trace or silent" },
  ),
});
export type Environment = Static<typeof Environment>;

/** What no pattern can say of a variable's text. */
export const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  CATALOG_SYNC_CRON: isCron,
  EXPORT_SWEEP_CRON: isCron,
  SMTP_URL: isUsableUrl,
};

/** True for five fields, no schedule here is finer, that come due at least once more. */
function isCron(text: string): boolean {
  // To the library an instant is a schedule too.
  if (text.trim().split(/\s+/).length !== 5) return false;
  try {
    return new Cron(text, { mode: "5-part", timezone: "UTC" }).nextRun() !== null;
  } catch {
    return false;
  }
}

/** True for a URL with a host whose percent-encoding can be undone. */
function isUsableUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.hostname === "") return false;
  try {
    decodeURIComponent(url.username);
    decodeURIComponent(url.password);
    return true;
  } catch {
    return false;
  }
}
