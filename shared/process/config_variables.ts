/** The environment variables of the configuration, with their defaults, bounds and descriptions. */
import { type Static, Type } from "@sinclair/typebox";
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import { parseNetworks } from "../network/networks.ts";
import { oneOf } from "../schemas.ts";

const MAX_INT32 = 2_147_483_647;

const NO_SPACES = "^\\S+$";
const POSTGRES_URL = "^postgres(ql)?://.+";
const ORIGIN = "^https?://[^\\s/?#@]+/?$";
const CONTACT = "^(mailto:[^\\s@]+@[^\\s@]+|https://\\S+|tel:\\+[0-9-]+)$";
/** Plain http is allowed only for loopback addresses. Text without a scheme is a path. */
const CATALOG_URL_OR_PATH =
  "^(?:https://\\S+|http://(?:[^\\s/@]*@)?(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\])(?::\\d+)?(?:[/?#]\\S*)?|(?![A-Za-z][A-Za-z0-9+.-]*://).+)$";
/** A name before an address in angle brackets, or only an address. A name that contains a comma must be quoted. */
const SENDER =
  '^(?:(?:"[^"<>\\\\\\r\\n]+" |[^",;:<>@\\r\\n]+ )?<[^\\s<>@,]+@[^\\s<>@,]+>|[^\\s<>@,]+@[^\\s<>@,]+)$';

function integer(bounds: { unset?: number; min: number; max: number }, description: string) {
  const { unset, min: minimum, max: maximum } = bounds;
  return Type.Integer({ ...(unset === undefined ? {} : { default: unset }), minimum, maximum, description });
}

function text(
  { unset, ...bounds }: { unset: string; pattern?: string; minLength?: number },
  description: string,
) {
  return Type.String({ default: unset, ...bounds, description });
}

function optional(description: string, pattern?: string) {
  return Type.Optional(Type.String({ ...(pattern === undefined ? {} : { pattern }), description }));
}

function word<const Word extends string>(words: readonly Word[], unset: Word) {
  const description = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(words);
  return oneOf(words, { default: unset, description });
}

/**
 * All environment variables. `default` is the value of an unset variable. Error messages contain "must be" and the
 * `description`.
 */
export const Environment = Type.Object({
  DATABASE_URL: optional("a postgres:// URL of PostgreSQL 15 or later", POSTGRES_URL),
  DATABASE_DIRECT_URL: optional(
    "a postgres:// URL of the same database without the connection pooler",
    POSTGRES_URL,
  ),
  // Exports and the catalog are read from the replica while it is up to date.
  DATABASE_REPLICA_URL: optional("a postgres:// URL of one streaming replica of DATABASE_URL", POSTGRES_URL),
  DATABASE_POOL_MAX: integer({ unset: 10, min: 1, max: 1000 }, "connections per process for requests"),
  EXPORT_STREAMS_MAX: integer({ unset: 8, min: 1, max: 1000 }, "concurrent export streams per process"),
  EXPORT_STREAMS_PER_USER: integer(
    { unset: 2, min: 1, max: 1000 },
    "concurrent export streams of a user per process",
  ),
  EXPORT_STREAMS_PER_ORG: Type.Optional(
    integer({ min: 1, max: 1000 }, "concurrent export streams of an organization per process"),
  ),
  EXPORT_STREAM_MAX_MINUTES: integer(
    { unset: 60, min: 1, max: 1440 },
    "minutes that a streamed export may take",
  ),
  // PostgreSQL truncates names over 63 bytes and replaces non-ASCII characters.
  EXPORT_IGNORE_APPLICATIONS: optional(
    "application names of database sessions, separated by commas",
    "^[ -+\\--~]{1,63}(,[ -+\\--~]{1,63})*$",
  ),
  TRACKER_SCHEMA: text(
    { unset: "public", pattern: "^[A-Za-z_][A-Za-z0-9_$-]{0,62}$" },
    "the name of a schema, without quotes",
  ),
  HOST: text({ unset: "127.0.0.1", minLength: 1 }, "address to listen on"),
  PORT: integer({ unset: 3000, min: 0, max: 65_535 }, "port to listen on"),
  PUBLIC_URL: optional(
    "an http(s) URL without user, query and fragment, for links in emails and headers",
    "^https?://[^\\s?#]+$",
  ),
  DATA_DIR: text({ unset: ".data", minLength: 1 }, "a directory"),
  ARTIFACT_URL: optional(
    "where finished exports are kept: a file:/// URL of a directory, or s3://bucket/prefix",
    "^(file:///|s3://[a-z0-9][a-z0-9.-]+(/|$))[^?#\\s]*$",
  ),
  S3_ENDPOINT: optional("an http(s) URL of an S3-compatible service, without a path", ORIGIN),
  S3_REGION: text({ unset: "us-east-1", pattern: "^[a-z0-9-]+$" }, "the name of the bucket's region"),
  S3_ACCESS_KEY_ID: optional("text without spaces", NO_SPACES),
  S3_SECRET_ACCESS_KEY: optional("text without spaces", NO_SPACES),
  S3_SESSION_TOKEN: optional("text without spaces", NO_SPACES),
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: optional("a path that begins with a slash", "^/\\S*$"),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: optional("an http(s) URL", "^https?://[^\\s/?#@]+(/[^\\s]*)?$"),
  AWS_CONTAINER_AUTHORIZATION_TOKEN: optional("the text of an Authorization header", "^[!-~]+( [!-~]+)*$"),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: optional("a file's path"),
  AWS_WEB_IDENTITY_TOKEN_FILE: optional("a file's path"),
  AWS_ROLE_ARN: optional("text without spaces", NO_SPACES),
  AWS_ROLE_SESSION_NAME: text(
    { unset: "ulr", pattern: "^[\\w+=,.@-]{2,64}$" },
    "2 to 64 letters, digits or +=,.@-_",
  ),
  AWS_ENDPOINT_URL_STS: optional("an http(s) URL without a path", ORIGIN),
  CATALOG_SOURCE: text(
    { unset: "https://models.dev/api.json", pattern: CATALOG_URL_OR_PATH },
    "bundled, a file's path, or an https URL (http for a loopback address)",
  ),
  CATALOG_SYNC_CRON: text({ unset: "23 */6 * * *" }, "five cron fields (UTC) with a date that exists"),
  EXPORT_SYNC_MAX_ROWS: integer({ unset: 250_000, min: 0, max: MAX_INT32 }, "rows of one streamed dataset"),
  EXPORT_BUNDLE_MAX_ROWS: integer(
    { unset: 500_000, min: 0, max: MAX_INT32 },
    "rows of the eight datasets of a bundle in total",
  ),
  EXPORT_PREPARE_TIMEOUT_MS: integer(
    { unset: 10_000, min: 1, max: 3_600_000 },
    "milliseconds for counting the rows of a bundle",
  ),
  EXPORT_JOBS_PER_HOUR: integer(
    { unset: 5, min: 1, max: 100_000 },
    "new export jobs per organization in any 60 minutes",
  ),
  EXPORT_RETENTION_HOURS: integer(
    { unset: 72, min: 1, max: 87_600 },
    "hours that a finished organization export is kept",
  ),
  EXPORT_BUILD_TIMEOUT_MINUTES: integer(
    { unset: 60, min: 1, max: 1380 },
    "minutes for one attempt to build an organization export",
  ),
  EXPORT_BUILD_PATIENCE_MINUTES: integer(
    { unset: 60, min: 0, max: 10_080 },
    "minutes that a build waits for a storage or database that fails; 0: failed attempts count",
  ),
  EXPORT_SWEEP_CRON: text(
    { unset: "*/5 * * * *" },
    "five cron fields (UTC), without `W` and `+`, with a date that exists",
  ),
  WEBHOOK_ALLOWED_NETWORKS: optional("a list of networks, such as 10.1.0.0/16,fd00::/8"),
  // If unset, mails are written to files.
  SMTP_URL: optional("an smtp:// or smtps:// URL with user and password percent-encoded", "^smtps?://\\S+$"),
  SIGN_UP: word(["off", "invited", "domains", "open"], "invited"),
  SIGN_UP_DOMAINS: optional(
    "domains of email addresses, separated by commas: `example.com, example.org`",
    "^[^\\s,@]+(\\s*,\\s*[^\\s,@]+)*$",
  ),
  MAIL_FROM: text(
    { unset: "ulr <no-reply@localhost>", pattern: SENDER },
    "one email address, optionally with a name: `ulr <no-reply@example.com>`",
  ),
  SECURITY_CONTACT: optional("a mailto:, https: or tel: URI, for /.well-known/security.txt", CONTACT),
  SUPPORT_CONTACT: optional("a mailto:, https: or tel: URI, where people ask for a subscription", CONTACT),
  ORGANIZATION_CREATION: word(["users", "admin"], "users"),
  AUDIT_RETENTION_DAYS: integer({ unset: 400, min: 400, max: 36_500 }, "days that audit entries are kept"),
  // The minimum is 31, because statistics cover thirty days.
  EXECUTION_RETENTION_DAYS: integer(
    { unset: 400, min: 31, max: 36_500 },
    "days that recorded executions are kept",
  ),
  // The minimum is 4, because webhooks are retried for three days.
  EVENT_RETENTION_DAYS: integer({ unset: 30, min: 4, max: 36_500 }, "days that events are kept"),
  EXPORT_JOB_RETENTION_DAYS: integer(
    { unset: 400, min: 1, max: 36_500 },
    "days that finished export jobs stay in lists",
  ),
  SESSION_RETENTION_DAYS: integer({ unset: 0, min: 0, max: 36_500 }, "days that ended sessions are kept"),
  SESSION_TTL_HOURS: integer({ unset: 336, min: 1, max: 87_600 }, "hours that a session lasts"),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: integer(
    { unset: 120, min: 1, max: MAX_INT32 },
    "requests without a credential per client address",
  ),
  RATE_LIMIT_USER_PER_MINUTE: integer({ unset: 1200, min: 1, max: MAX_INT32 }, "requests per user"),
  RATE_LIMIT_LOGIN_PER_MINUTE: integer(
    { unset: 10, min: 1, max: 10_000 },
    "sign-in attempts per client address and per account",
  ),
  TRUST_PROXY: text(
    { unset: "false", pattern: "^(true|false|[0-9]|1[0-9]|20)$" },
    "true, false, or the number of proxies in front, up to 20",
  ),
  SHUTDOWN_DELAY_SECONDS: integer(
    { unset: 0, min: 0, max: 300 },
    "seconds that the API still accepts requests after SIGTERM",
  ),
  METRICS_HOST: text({ unset: "127.0.0.1", minLength: 1 }, "address of METRICS_PORT"),
  // If unset, the API serves metrics and health on PORT, and other processes do not serve them.
  METRICS_PORT: Type.Optional(integer({ min: 0, max: 65_535 }, "port of metrics and health")),
  LOG_LEVEL: word(["fatal", "error", "warn", "info", "debug", "trace", "silent"], "info"),
  LOG_ADDRESSES: word(["full", "network", "none"], "full"),
});
export type Environment = Static<typeof Environment>;

/** Checks that a pattern cannot express, by variable. */
export const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  CATALOG_SYNC_CRON: isCron,
  EXPORT_SWEEP_CRON: isQueueCron,
  PUBLIC_URL: isUrlWithoutUser,
  SMTP_URL: isUsableUrl,
  S3_ENDPOINT: URL.canParse,
  AWS_ENDPOINT_URL_STS: URL.canParse,
  WEBHOOK_ALLOWED_NETWORKS: (text) => parseNetworks(text) !== null,
};

/** Returns the result of `check`, or false if it throws. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

/** Returns true for exactly five fields. The cron libraries also accept seconds and dates, which are not supported. */
function hasFiveFields(text: string): boolean {
  return text.trim().split(/\s+/).length === 5;
}

/** Returns true for five fields that match a future time, according to the library that the queue uses. */
function isQueueCron(text: string): boolean {
  const options = { tz: "UTC", strict: false };
  return hasFiveFields(text) && holds(() => CronExpressionParser.parse(text, options).hasNext());
}

/** Returns true for five fields that match a future time. */
function isCron(text: string): boolean {
  const options = { mode: "5-part", timezone: "UTC" } as const;
  return hasFiveFields(text) && holds(() => new Cron(text, options).nextRun() !== null);
}

/** Returns true for a URL with a host, whose credentials can be decoded. */
function isUsableUrl(text: string): boolean {
  return holds(() => {
    const { hostname, username, password } = new URL(text);
    decodeURIComponent(username);
    decodeURIComponent(password);
    return hostname !== "";
  });
}

function isUrlWithoutUser(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "";
}
