/** The configuration: the environment is read here, once, when a process starts. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { findDatabaseUrlProblem } from "../database/url.ts";
import { CHECKS, Environment } from "./config_variables.ts";
import { findS3Problems, type S3Config, toS3Config } from "./s3_config.ts";
import { readVariableFiles, type VariableValues } from "./variable_files.ts";

export interface Config {
  /** For the API's requests; may lead to a connection pooler. */
  databaseUrl: string;
  /** For features that need their own sessions. Same as `databaseUrl` without a pooler. */
  databaseDirectUrl: string;
  /** Where exports and the catalog are read while the replica is current; null without a replica. */
  databaseReplicaUrl: string | null;
  databasePoolMax: number;
  exportStreamsMax: number;
  exportStreamsPerUser: number;
  exportStreamsPerOrg: number;
  exportStreamMaxMinutes: number;
  /** Application names of database sessions that do not hold back the cutoff of exports. */
  exportIgnoreApplications: readonly string[];
  /** The schema of the tracker tables, or of views with their columns. */
  trackerSchema: string;
  host: string;
  port: number;
  /** Without a trailing slash. */
  publicUrl: string;
  dataDir: string;
  /** Where finished exports are kept. */
  artifactUrl: string;
  /** Settings of the bucket for an `s3://` artifact URL; null for other URLs. */
  s3: S3Config | null;
  /** `bundled`, a path or a URL. */
  catalogSource: string;
  /** In UTC. */
  catalogSyncCron: string;
  exportSyncMaxRows: number;
  exportBundleMaxRows: number;
  exportPrepareTimeoutMs: number;
  exportJobsPerHour: number;
  exportRetentionHours: number;
  exportBuildTimeoutMinutes: number;
  exportBuildPatienceMinutes: number;
  exportSweepCron: string;
  /** URL of the mail server, with credentials; null writes mail to files. */
  smtpUrl: string | null;
  mailFrom: string;
  /** Who may sign up: no one, invited addresses, also addresses of `signUpDomains`, or everyone. */
  signUp: "off" | "invited" | "domains" | "open";
  /** In lower case. */
  signUpDomains: readonly string[];
  /** CIDRs of own networks that webhooks may be delivered to, separated by commas. */
  webhookAllowedNetworks: string | null;
  /** Where people report vulnerabilities, a URI; null: the security policy says so. */
  securityContact: string | null;
  /** Where people ask for a subscription, a URI; null: no one is named. */
  supportContact: string | null;
  organizationCreation: "users" | "admin";
  auditRetentionDays: number;
  executionRetentionDays: number;
  eventRetentionDays: number;
  exportJobRetentionDays: number;
  sessionRetentionDays: number;
  sessionTtlHours: number;
  rateLimitAnonymousPerMinute: number;
  rateLimitUserPerMinute: number;
  rateLimitLoginPerMinute: number;
  /** How long the API still accepts requests after SIGTERM while readiness is 503. */
  shutdownDelaySeconds: number;
  metricsHost: string;
  /** Where this process serves metrics and health; null: the API serves them on `port`, other processes do not. */
  metricsPort: number | null;
  /** Number of trusted proxies between client and API; 0: `X-Forwarded-For` is ignored. */
  trustProxy: number;
  logLevel: string;
  /** How client addresses appear in log lines. */
  logAddresses: "full" | "network" | "none";
}

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] };

/** Converts text to the type of its schema. Invalid text is returned unchanged and fails validation. */
function toSchemaType(schema: TSchema, text: string): unknown {
  if (schema["type"] === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}

/** Describes valid values: `a whole number from 1 to 1000`. */
function expectation(schema: TSchema): string {
  if (schema["type"] === "integer") return `a whole number from ${schema["minimum"]} to ${schema["maximum"]}`;
  return String(schema.description);
}

/**
 * Reads the configuration. All problems are reported at once, one line each, naming the variable and never its value,
 * which may hold a password. An empty variable counts as unset.
 */
export function readConfig(variables: VariableValues): ConfigResult {
  const { env, problems: fileProblems } = readVariableFiles(variables);
  const given = parseVariables(env);
  const problems = new Map<string, string>();
  const addProblem = (name: string): void => {
    const schema: TSchema | undefined = Environment.properties[name as keyof typeof Environment.properties];
    if (schema) problems.set(name, `${name}: must be ${expectation(schema)}`);
  };
  for (const error of Value.Errors(Environment, given)) addProblem(error.path.slice(1));
  for (const [name, isValid] of Object.entries(CHECKS)) {
    const value = given[name];
    if (typeof value === "string" && !isValid(value)) addProblem(name);
  }
  for (const name of ["DATABASE_URL", "DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL"]) {
    const url = given[name];
    const problem = typeof url === "string" && !problems.has(name) ? findDatabaseUrlProblem(url) : null;
    if (problem !== null) problems.set(name, `${name}: ${problem}`);
  }
  if (!("DATABASE_URL" in given)) {
    problems.set(
      "DATABASE_URL",
      "DATABASE_URL: must be set (only `bun run start` brings its own PostgreSQL)",
    );
  }
  for (const [name, problem] of [...findS3Problems(given), ...findSignUpProblems(given)])
    problems.set(name, problem);
  for (const [name, problem] of fileProblems) problems.set(name, problem);
  if (problems.size > 0) return { ok: false, problems: [...problems.values()] };
  return { ok: true, config: toConfig(given as Environment) };
}

function findSignUpProblems(variables: Record<string, unknown>): [name: string, problem: string][] {
  if (variables["SIGN_UP"] !== "domains" || variables["SIGN_UP_DOMAINS"] !== undefined) return [];
  return [["SIGN_UP_DOMAINS", "SIGN_UP_DOMAINS: must be set with SIGN_UP=domains"]];
}

function parseVariables(env: VariableValues): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries<TSchema>(Environment.properties)) {
    const text = env[name]?.trim();
    const value = text ? toSchemaType(schema, text) : schema.default;
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** `false` is 0 proxies, `true` is 1. */
function toProxyCount(text: string): number {
  return text === "true" ? 1 : text === "false" ? 0 : Number(text);
}

function toConfig(env: Environment): Config {
  const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`;
  return {
    databaseUrl: env.DATABASE_URL ?? "",
    databaseDirectUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL ?? "",
    databaseReplicaUrl: env.DATABASE_REPLICA_URL ?? null,
    databasePoolMax: env.DATABASE_POOL_MAX,
    exportStreamsMax: env.EXPORT_STREAMS_MAX,
    exportStreamsPerUser: env.EXPORT_STREAMS_PER_USER,
    exportStreamsPerOrg: env.EXPORT_STREAMS_PER_ORG ?? Math.max(1, Math.floor(env.EXPORT_STREAMS_MAX / 2)),
    exportStreamMaxMinutes: env.EXPORT_STREAM_MAX_MINUTES,
    exportIgnoreApplications: (env.EXPORT_IGNORE_APPLICATIONS ?? "")
      .split(",")
      .flatMap((n) => n.trim() || []),
    trackerSchema: env.TRACKER_SCHEMA,
    host: env.HOST,
    port: env.PORT,
    publicUrl: publicUrl.replace(/\/+$/, ""),
    dataDir: env.DATA_DIR,
    artifactUrl: env.ARTIFACT_URL ?? pathToFileURL(resolve(env.DATA_DIR, "artifacts")).href,
    s3: toS3Config(env),
    catalogSource: env.CATALOG_SOURCE,
    catalogSyncCron: env.CATALOG_SYNC_CRON,
    exportSyncMaxRows: env.EXPORT_SYNC_MAX_ROWS,
    exportBundleMaxRows: env.EXPORT_BUNDLE_MAX_ROWS,
    exportPrepareTimeoutMs: env.EXPORT_PREPARE_TIMEOUT_MS,
    exportJobsPerHour: env.EXPORT_JOBS_PER_HOUR,
    exportRetentionHours: env.EXPORT_RETENTION_HOURS,
    exportBuildTimeoutMinutes: env.EXPORT_BUILD_TIMEOUT_MINUTES,
    exportBuildPatienceMinutes: env.EXPORT_BUILD_PATIENCE_MINUTES,
    exportSweepCron: env.EXPORT_SWEEP_CRON,
    smtpUrl: env.SMTP_URL ?? null,
    mailFrom: env.MAIL_FROM,
    signUp: env.SIGN_UP,
    signUpDomains: (env.SIGN_UP_DOMAINS ?? "")
      .toLowerCase()
      .split(",")
      .flatMap((domain) => domain.trim() || []),
    webhookAllowedNetworks: env.WEBHOOK_ALLOWED_NETWORKS ?? null,
    securityContact: env.SECURITY_CONTACT ?? null,
    supportContact: env.SUPPORT_CONTACT ?? null,
    organizationCreation: env.ORGANIZATION_CREATION,
    auditRetentionDays: env.AUDIT_RETENTION_DAYS,
    executionRetentionDays: env.EXECUTION_RETENTION_DAYS,
    eventRetentionDays: env.EVENT_RETENTION_DAYS,
    exportJobRetentionDays: env.EXPORT_JOB_RETENTION_DAYS,
    sessionRetentionDays: env.SESSION_RETENTION_DAYS,
    sessionTtlHours: env.SESSION_TTL_HOURS,
    rateLimitAnonymousPerMinute: env.RATE_LIMIT_ANONYMOUS_PER_MINUTE,
    rateLimitUserPerMinute: env.RATE_LIMIT_USER_PER_MINUTE,
    rateLimitLoginPerMinute: env.RATE_LIMIT_LOGIN_PER_MINUTE,
    shutdownDelaySeconds: env.SHUTDOWN_DELAY_SECONDS,
    metricsHost: env.METRICS_HOST,
    metricsPort: env.METRICS_PORT ?? null,
    trustProxy: toProxyCount(env.TRUST_PROXY),
    logLevel: env.LOG_LEVEL,
    logAddresses: env.LOG_ADDRESSES,
  };
}
