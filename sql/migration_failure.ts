/** Explains a failed migration in one line: which one it was, and what to do. */
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

/** Statements for the owner, by the message of PostgreSQL they resolve. */
const GRANTS: readonly [pattern: RegExp, statement: (place: Place, object: string) => string][] = [
  [
    /permission denied for schema (\S+)/,
    ({ role }, schema) => `grant usage, create on schema ${schema} to "${role}"`,
  ],
  [
    /permission denied for database/,
    ({ role, database }) => `grant create on database "${database}" to "${role}"`,
  ],
];

/** Returns what to do about `error`; empty if only the message helps. */
function hintOf(error: unknown, message: string, place: Place): string {
  if (hasSqlState(error, INSUFFICIENT_PRIVILEGE)) {
    for (const [pattern, statement] of GRANTS) {
      const match = pattern.exec(message);
      if (match) return `As its owner, run: ${statement(place, match[1] ?? "")}`;
    }
    return `Run it as the role that owns the tables; this is "${place.role}"`;
  }
  if (message.includes("due to statement timeout")) {
    return `Migrations need more time: alter role "${place.role}" set statement_timeout = 0`;
  }
  if (hasSqlState(error, DUPLICATE_TABLE)) {
    return `Database "${place.database}" contains other objects: use a separate database for the service`;
  }
  return "";
}

/** Creates the error of a step that PostgreSQL refused. `step` is a phrase that follows "Cannot". */
export async function toMigrationError(sql: Sql, step: string, error: unknown): Promise<MigrationError> {
  const message = error instanceof Error ? error.message : String(error);
  const place = await sql<[Place]>`select current_user as role, current_database() as database`.then(
    ([row]) => row,
    () => null,
  );
  const hint = place ? hintOf(error, message, place) : "";
  return new MigrationError(`Cannot ${step}: ${message}${hint && `. ${hint}`}`, { cause: error });
}
