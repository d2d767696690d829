/** The configuration of `bun run start`: DATABASE_URL is optional, and DATA_DIR is absolute. */
import { resolve } from "node:path";
import { readConfig } from "../../shared/process/config.ts";
import { describeUnknownVariables } from "../../shared/process/unknown_variables.ts";
import { readVariableFiles } from "../../shared/process/variable_files.ts";
import { chooseFreePort } from "./ports.ts";
import { StartError } from "./start_error.ts";

export interface StackSettings {
  host: string;
  port: number;
  publicUrl: string;
  metricsHost: string;
  /** Of the first process; null if metrics have no port of their own. */
  metricsPort: number | null;
  /** Absolute. */
  dataDirectory: string;
  /** Null: start the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** One line for each variable that looks misspelled. */
  warnings: readonly string[];
}

/** Placeholder for the URL of the embedded database; nothing connects to it. */
const EMBEDDED = "postgres://embedded";

/** Reads the settings; the error has a line for every problem. Port 0 becomes a free one. */
export async function readStackSettings(root: string, env: NodeJS.ProcessEnv): Promise<StackSettings> {
  const files = readVariableFiles(env);
  if (files.problems.size > 0) throw new StartError([...files.problems.values()].join("\n"));
  const databaseUrl = files.env["DATABASE_URL"]?.trim() || null;
  if (databaseUrl === null && files.env["DATABASE_DIRECT_URL"]?.trim()) {
    throw new StartError("DATABASE_DIRECT_URL: must not be set without DATABASE_URL");
  }
  const given = { ...files.env, DATABASE_URL: databaseUrl ?? EMBEDDED };
  let result = readConfig(given);
  if (result.ok && result.config.port === 0) {
    const port = await chooseFreePort(result.config.host);
    result = readConfig({ ...given, PORT: String(port) });
  }
  if (!result.ok) throw new StartError(result.problems.join("\n"));
  const { host, port, publicUrl, metricsHost, metricsPort, dataDir } = result.config;
  return {
    host,
    port,
    publicUrl,
    metricsHost,
    metricsPort,
    dataDirectory: resolve(root, dataDir),
    databaseUrl,
    warnings: describeUnknownVariables(env),
  };
}
