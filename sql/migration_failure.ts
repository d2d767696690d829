/** Describes a failed migration in one line, with a hint about how to fix it. */
import type { Sql } from "./connection/pool.ts";
import { hasSqlState } from "./connection/pool.ts";

const INSUFFICIENT_PRIVILEGE = "42501";
const DUPLICATE_TABLE = "42P07";

export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

interface Place {
  role: string;
  database: string;
}

/** Returns a hint about how to fix `error`; empty without a hint. */
function hintOf(error: unknown, message: string, { role, database }: Place): string {
  if (hasSqlState(error, INSUFFICIENT_PRIVILEGE)) {
    const [, schema] = /permission denied for schema (\S+)/.exec(message) ?? [];
    if (schema) return `As its owner, run: grant usage, create on schema ${schema} to "${role}"`;
    if (message.includes("permission denied for database")) {
      return `As its owner, run: grant create on database "${database}" to "${role}"`;
    }
    return `Run it as the role that owns the tables; this is "${role}"`;
  }
  if (message.includes("due to statement timeout")) {
    return `Migrations need more time: alter role "${role}" set statement_timeout = 0`;
  }
  if (hasSqlState(error, DUPLICATE_TABLE)) {
    return `Database "${database}" contains other objects: use a separate database for the service`;
  }
  return "";
}

/** Creates the error for a step that failed. `step` is a phrase that follows "Cannot". */
export async function toMigrationError(sql: Sql, step: string, error: unknown): Promise<MigrationError> {
  const message = error instanceof Error ? error.message : String(error);
  const place = await sql<[Place]>`select current_user as role, current_database() as database`.then(
    ([row]) => row,
    () => null,
  );
  const hint = place ? hintOf(error, message, place) : "";
  return new MigrationError(`Cannot ${step}: ${message}${hint && `. ${hint}`}`, { cause: error });
}
