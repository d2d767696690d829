/** Reads the configuration from the environment, once, when a process starts. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { findDatabaseUrlProblem } from "../database/url.ts";
import { CHECKS, Environment } from "./config_variables.ts";
import { type ReportProblem, readS3Config, type S3Config } from "./s3_config.ts";
import { readVariableFiles, type VariableValues } from "./variable_files.ts";

/** Converts a variable's name to camelCase: `DATABASE_POOL_MAX` to `databasePoolMax`. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

type BucketVariable = `S3_${string}` | `AWS_${string}`;

/** The variables by their camelCase names. Unset variables without a default are null. The bucket's variables are in `s3`. */
type Variables = {
  [Name in Exclude<keyof Environment, BucketVariable> as CamelCase<Name>]:
    | NonNullable<Environment[Name]>
    | (undefined extends Environment[Name] ? null : never);
};

export type Config = ReturnType<typeof toConfig>;

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] };

/** Converts text to the type of its schema. Invalid text is returned unchanged, and then fails validation. */
function toSchemaType(schema: TSchema, text: string): unknown {
  if (schema["type"] === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}

/** Describes the valid values of a variable: `a whole number from 1 to 1000`. */
function expectation(name: string): string {
  const schema: TSchema = Environment.properties[name as keyof typeof Environment.properties];
  if (schema["type"] === "integer") return `a whole number from ${schema["minimum"]} to ${schema["maximum"]}`;
  return String(schema.description);
}

/**
 * Reads the configuration. Returns all problems at once, one line each, with the variable's name. A problem never contains
 * the value, which may include a password. An empty variable counts as unset.
 */
export function readConfig(variables: VariableValues): ConfigResult {
  const { env, problems: fileProblems } = readVariableFiles(variables);
  const given = parseVariables(env);
  const problems = new Map<string, string>();
  const report: ReportProblem = (name, problem) => void problems.set(name, `${name}: ${problem}`);
  const reportInvalid = (name: string): void => report(name, `must be ${expectation(name)}`);
  for (const error of Value.Errors(Environment, given)) reportInvalid(error.path.slice(1));
  for (const [name, isValid] of Object.entries(CHECKS)) {
    const value = given[name];
    if (typeof value === "string" && !isValid(value)) reportInvalid(name);
  }
  for (const name of ["DATABASE_URL", "DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL"]) {
    if (problems.has(name) || !(name in given)) continue;
    const problem = findDatabaseUrlProblem(String(given[name]));
    if (problem !== null) report(name, problem);
  }
  if (!("DATABASE_URL" in given)) {
    report("DATABASE_URL", "must be set (only `bun run start` brings its own PostgreSQL)");
  }
  const s3 = readS3Config(given as Environment, report);
  if (given["SIGN_UP"] === "domains" && !("SIGN_UP_DOMAINS" in given)) {
    report("SIGN_UP_DOMAINS", "must be set with SIGN_UP=domains");
  }
  const lines = [...new Map([...problems, ...fileProblems]).values()];
  if (lines.length > 0) return { ok: false, problems: lines };
  return { ok: true, config: toConfig(given as Environment, s3) };
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

/** Returns the number of proxies: 0 for `false`, 1 for `true`. */
function toProxyCount(text: string): number {
  return text === "true" ? 1 : text === "false" ? 0 : Number(text);
}

/** Returns the configuration, including the settings whose values differ from those of their variables. */
function toConfig(env: Environment, s3: S3Config | null) {
  const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`;
  const names = Object.keys(Environment.properties).filter((name) => !/^(?:S3|AWS)_/.test(name));
  const values: Readonly<Record<string, unknown>> = env;
  return {
    ...(Object.fromEntries(names.map((name) => [toCamelCase(name), values[name] ?? null])) as Variables),
    /** The URL for the API's requests, which may point to a connection pooler. */
    databaseUrl: env.DATABASE_URL ?? "",
    /** The URL for features that need their own sessions; the same as `databaseUrl` without a pooler. */
    databaseDirectUrl: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL ?? "",
    exportStreamsPerOrg: env.EXPORT_STREAMS_PER_ORG ?? Math.max(1, Math.floor(env.EXPORT_STREAMS_MAX / 2)),
    /** The application names of database sessions that do not hold back the cutoff of exports. */
    exportIgnoreApplications: toList(env.EXPORT_IGNORE_APPLICATIONS),
    /** The public base URL, without a trailing slash. */
    publicUrl: publicUrl.replace(/\/+$/, ""),
    /** The location of finished exports. */
    artifactUrl: env.ARTIFACT_URL ?? pathToFileURL(resolve(env.DATA_DIR, "artifacts")).href,
    /** The settings of the bucket for an `s3://` artifact URL; null for other URLs. */
    s3,
    /** The domains in lower case. */
    signUpDomains: toList(env.SIGN_UP_DOMAINS?.toLowerCase()),
    /** The number of trusted proxies between client and API. With 0, `X-Forwarded-For` is ignored. */
    trustProxy: toProxyCount(env.TRUST_PROXY),
  };
}

function toCamelCase(name: string): string {
  return name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Splits a comma-separated list. */
function toList(text = ""): readonly string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}
