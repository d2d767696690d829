/** Every environment variable of the configuration, with its default, its bounds and what it is for. */
import { type Static, Type } from "@sinclair/typebox";
import { Cron } from "croner";
import { parseNetworks } from "../network/webhook_networks.ts";

const MAX_INT32 = 2_147_483_647;

const optionalWord = () =>
  Type.Optional(Type.String({ pattern: "^\\S+$", description: "text without spaces" }));

/** Every variable: `default` is the value of an unset one; errors say "must be" and the `description`. */
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
      description: "a postgres:// URL of the same database without the connection pooler",
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
    description: "concurrent export streams per process",
  }),
  EXPORT_STREAMS_PER_USER: Type.Integer({
    default: 2,
    minimum: 1,
    maximum: 1000,
    description: "concurrent export streams of a user per process",
  }),
  EXPORT_STREAMS_PER_ORG: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: "concurrent export streams of an organization per process",
    }),
  ),
  EXPORT_STREAM_MAX_MINUTES: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 1440,
    description: "minutes that a streamed export may take",
  }),
  EXPORT_IGNORE_APPLICATIONS: Type.Optional(
    Type.String({
      // PostgreSQL cuts longer names, and replaces other characters.
      pattern: "^[ -+\\--~]{1,63}(,[ -+\\--~]{1,63})*$",
      description: "application names of database sessions, separated by commas",
    }),
  ),
  TRACKER_SCHEMA: Type.String({
    default: "public",
    pattern: "^[A-Za-z_][A-Za-z0-9_$-]{0,62}$",
    description: "the name of a schema, without quotes",
  }),
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
    description: "a directory",
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
  S3_ACCESS_KEY_ID: optionalWord(),
  S3_SECRET_ACCESS_KEY: optionalWord(),
  S3_SESSION_TOKEN: optionalWord(),
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: Type.Optional(
    Type.String({ pattern: "^/\\S*$", description: "a path that begins with a slash" }),
  ),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: Type.Optional(
    Type.String({ pattern: "^https?://[^\\s/?#@]+(/[^\\s]*)?$", description: "an http(s) URL" }),
  ),
  AWS_CONTAINER_AUTHORIZATION_TOKEN: Type.Optional(
    Type.String({ pattern: "^[!-~]+( [!-~]+)*$", description: "the text of an Authorization header" }),
  ),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: Type.Optional(Type.String({ description: "a file's path" })),
  AWS_WEB_IDENTITY_TOKEN_FILE: Type.Optional(Type.String({ description: "a file's path" })),
  AWS_ROLE_ARN: optionalWord(),
  AWS_ROLE_SESSION_NAME: Type.String({
    default: "ulr",
    pattern: "^[\\w+=,.@-]{2,64}$",
    description: "2 to 64 letters, digits or +=,.@-_",
  }),
  AWS_ENDPOINT_URL_STS: Type.Optional(
    Type.String({ pattern: "^https?://[^\\s/?#@]+/?$", description: "an http(s) URL without a path" }),
  ),
  CATALOG_SOURCE: Type.String({
    default: "https://models.dev/api.json",
    // Plain http is for loopback addresses only. Text without a scheme is a path.
    pattern:
      "^(?:https://\\S+|http://(?:[^\\s/@]*@)?(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\])(?::\\d+)?(?:[/?#]\\S*)?|(?![A-Za-z][A-Za-z0-9+.-]*://).+)$",
    description: "bundled, a file's path, or an https URL (http for a loopback address)",
  }),
  CATALOG_SYNC_CRON: Type.String({
    default: "23 */6 * * *",
    description: "five cron fields (UTC) with a date that exists",
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
    description: "rows of the eight datasets of a bundle in total",
  }),
  EXPORT_PREPARE_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 1,
    maximum: 3_600_000,
    description: "milliseconds for counting the rows of a bundle",
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
    description: "hours that a finished organization export is kept",
  }),
  EXPORT_BUILD_TIMEOUT_MINUTES: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 1380,
    description: "minutes for one attempt to build an organization export",
  }),
  EXPORT_BUILD_PATIENCE_MINUTES: Type.Integer({
    default: 60,
    minimum: 0,
    maximum: 10_080,
    description: "minutes that a build waits for a storage or database that fails; 0: failed attempts count",
  }),
  EXPORT_SWEEP_CRON: Type.String({
    default: "*/5 * * * *",
    description: "five cron fields (UTC) with a date that exists",
  }),
  WEBHOOK_ALLOWED_NETWORKS: Type.Optional(
    Type.String({ description: "a list of networks, such as 10.1.0.0/16,fd00::/8" }),
  ),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: "^smtps?://\\S+$",
      description: "an smtp:// or smtps:// URL with user and password percent-encoded",
    }),
  ),
  SIGN_UP: Type.Union(
    [Type.Literal("off"), Type.Literal("invited"), Type.Literal("domains"), Type.Literal("open")],
    { default: "invited", description: "off, invited, domains or open" },
  ),
  SIGN_UP_DOMAINS: Type.Optional(
    Type.String({
      pattern: "^[^\\s,@]+(\\s*,\\s*[^\\s,@]+)*$",
      description: "domains of email addresses, separated by commas: `example.com, example.org`",
    }),
  ),
  MAIL_FROM: Type.String({
    default: "ulr <no-reply@localhost>",
    // A name, quoted where it has a comma, before an address in angle brackets; or an address alone.
    pattern:
      '^(?:(?:"[^"<>\\\\\\r\\n]+" |[^",;:<>@\\r\\n]+ )?<[^\\s<>@,]+@[^\\s<>@,]+>|[^\\s<>@,]+@[^\\s<>@,]+)$',
    description: "one email address, optionally with a name: `ulr <no-reply@example.com>`",
  }),
  SECURITY_CONTACT: Type.Optional(
    Type.String({
      pattern: "^(mailto:[^\\s@]+@[^\\s@]+|https://\\S+|tel:\\+[0-9-]+)$",
      description: "a mailto:, https: or tel: URI, for /.well-known/security.txt",
    }),
  ),
  SUPPORT_CONTACT: Type.Optional(
    Type.String({
      pattern: "^(mailto:[^\\s@]+@[^\\s@]+|https://\\S+|tel:\\+[0-9-]+)$",
      description: "a mailto:, https: or tel: URI, where people ask for a subscription",
    }),
  ),
  ORGANIZATION_CREATION: Type.Union([Type.Literal("users"), Type.Literal("admin")], {
    default: "users",
    description: "users or admin",
  }),
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
  EVENT_RETENTION_DAYS: Type.Integer({
    default: 30,
    // Webhooks are retried for three days.
    minimum: 4,
    maximum: 36_500,
    description: "days that events are kept",
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
    description: "hours that a session lasts",
  }),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: Type.Integer({
    default: 120,
    minimum: 1,
    maximum: MAX_INT32,
    description: "requests without a credential per client address",
  }),
  RATE_LIMIT_USER_PER_MINUTE: Type.Integer({
    default: 1200,
    minimum: 1,
    maximum: MAX_INT32,
    description: "requests per user",
  }),
  RATE_LIMIT_LOGIN_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 10_000,
    description: "sign-in attempts per client address and per account",
  }),
  TRUST_PROXY: Type.String({
    default: "false",
    pattern: "^(true|false|[0-9]|1[0-9]|20)$",
    description: "true, false, or the number of proxies in front, up to 20",
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
  LOG_ADDRESSES: Type.Union([Type.Literal("full"), Type.Literal("network"), Type.Literal("none")], {
    default: "full",
    description: "full, network or none",
  }),
});
export type Environment = Static<typeof Environment>;

/** Checks that a pattern cannot express. */
export const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  CATALOG_SYNC_CRON: isCron,
  EXPORT_SWEEP_CRON: isCron,
  SMTP_URL: isUsableUrl,
  WEBHOOK_ALLOWED_NETWORKS: (text) => parseNetworks(text) !== null,
};

/** True for five fields that match a time in the future. Seconds are not supported. */
function isCron(text: string): boolean {
  // The library also accepts a date.
  if (text.trim().split(/\s+/).length !== 5) return false;
  try {
    return new Cron(text, { mode: "5-part", timezone: "UTC" }).nextRun() !== null;
  } catch {
    return false;
  }
}

/** True for a URL with a host and credentials that can be decoded. */
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
