/**
 * Reads secrets from files. `NAME_FILE` is the path of the file with the value of `NAME`, as Docker and Kubernetes mount
 * secrets.
 */
import { readFileSync, statSync } from "node:fs";

/** The variables whose value may be in a file. */
export const FILE_VARIABLES = [
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "DATABASE_REPLICA_URL",
  "S3_ACCESS_KEY_ID",
  "S3_SECRET_ACCESS_KEY",
  "S3_SESSION_TOKEN",
  "SMTP_URL",
] as const;

const MAX_BYTES = 64 * 1024;

export type VariableValues = Readonly<Record<string, string | undefined>>;

export interface FileValues {
  /** The environment with the values from the files. The variables with the paths are removed. */
  env: VariableValues;
  /** The problems by variable, one line each, with the path but never the content. */
  problems: ReadonlyMap<string, string>;
}

/** Reads the files that the environment specifies. Never throws. */
export function readVariableFiles(env: VariableValues): FileValues {
  const values: Record<string, string | undefined> = { ...env };
  const problems = new Map<string, string>();
  for (const name of FILE_VARIABLES) {
    const fileName = `${name}_FILE`;
    const path = env[fileName]?.trim();
    delete values[fileName];
    if (!path) continue;
    if (env[name]?.trim()) {
      problems.set(name, `${fileName}: must not be set together with ${name}`);
      continue;
    }
    try {
      values[name] = readSecretFile(path);
    } catch (error) {
      problems.set(name, `${fileName}: cannot read ${path}: ${explain(error)}`);
    }
  }
  return { env: values, problems };
}

/**
 * Returns the text of a small file without the final newline. Throws if the file is empty, larger than 64 KiB or not a
 * regular file, because reading a pipe could block the process.
 */
export function readSecretFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error("it is not a regular file");
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
  if (text.trim() === "") throw new Error("it is empty");
  return text;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "it does not exist";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return typeof code === "string" ? code : error.message;
}
