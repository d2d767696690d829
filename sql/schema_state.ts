/** Tables `schema_migrations` and `schema_compatibility`: the state of the schema and its compatibility with this release. */

import { firstValue, onlyValue, type Sql } from "./connection/pool.ts";
import { type Migration, readMigrations } from "./migration_files.ts";

/** The state of the schema. Names of migrations are listed oldest first. */
export interface SchemaState {
  /** The applied migrations that this release knows. */
  applied: { name: string; appliedAt: string }[];
  pending: string[];
  /** The migrations that a newer release has applied. */
  unknown: string[];
  /** The migration that a release must know to use this database; null if there is no such requirement. */
  requiredMigration: string | null;
  /** Whether this release knows the required migration, and can thus use the database. */
  isRequirementKnown: boolean;
}

/** The error for a database that this release cannot use. The message follows "Cannot start:" or "Cannot migrate:". */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

interface AppliedRow {
  name: string;
  checksum: string;
  appliedAt: string;
}

/** Creates the history table if it is missing. Checks for the table first, so that a role without CREATE can call this function. */
export async function createHistory(sql: Sql): Promise<void> {
  if (await existsRelation(sql, "schema_migrations")) return;
  await sql`
    create table schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz(3) not null default now()
    )`;
}

export async function insertApplied(sql: Sql, { name, checksum }: Migration): Promise<void> {
  await sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`;
}

/** Compares the database with the migrations of this release. Throws if a migration was changed after it was applied. */
export async function readSchemaState(sql: Sql, migrations?: readonly Migration[]): Promise<SchemaState> {
  const known = new Map((migrations ?? (await readMigrations())).map((each) => [each.name, each]));
  const applied = await listApplied(sql);
  for (const { name, checksum } of applied) {
    const migration = known.get(name);
    if (!migration || migration.checksum === checksum) continue;
    throw new SchemaError(
      `migration "${name}" was changed after it was applied; restore the text that was applied`,
    );
  }
  const names = new Set(applied.map(({ name }) => name));
  const requiredMigration = await findRequirement(sql);
  return {
    applied: applied.flatMap(({ name, appliedAt }) => (known.has(name) ? [{ name, appliedAt }] : [])),
    pending: [...known.keys()].filter((name) => !names.has(name)),
    unknown: [...names].filter((name) => !known.has(name)),
    requiredMigration,
    isRequirementKnown: requiredMigration === null || known.has(requiredMigration),
  };
}

/**
 * Throws if migrations are pending, or if a newer release has made an incompatible change. Calls `warn` if a newer release has made
 * compatible changes.
 */
export async function requireCompatibleSchema(sql: Sql, warn: (message: string) => void): Promise<void> {
  const state = await readSchemaState(sql);
  requireKnownRequirement(state);
  const [first] = state.pending;
  if (first) {
    throw new SchemaError(
      `the database lacks ${count(state.pending)}, from "${first}" on; run \`bun run migrate\` first`,
    );
  }
  if (state.unknown.length > 0) warn(`The database is newer than this release: ${describeUnknown(state)}`);
}

/** Throws if the database requires a migration that this release does not know. */
export function requireKnownRequirement({ requiredMigration, isRequirementKnown }: SchemaState): void {
  if (isRequirementKnown) return;
  throw new SchemaError(
    `the database requires migration "${requiredMigration}", which this release does not know; start the release that has it, or a newer one`,
  );
}

/** Describes the migrations that this release does not know. */
export function describeUnknown({ unknown }: SchemaState): string {
  return `it has ${count(unknown)} that this release does not know, the last is "${unknown.at(-1)}"`;
}

function count(names: readonly string[]): string {
  return names.length === 1 ? "1 migration" : `${names.length} migrations`;
}

/** Returns true if a table or an index with this name exists. An unqualified name is resolved by the search path. */
export async function existsRelation(sql: Sql, name: string): Promise<boolean> {
  return onlyValue(sql<[{ exists: boolean }]>`select to_regclass(${name}) is not null as exists`);
}

async function listApplied(sql: Sql): Promise<AppliedRow[]> {
  if (!(await existsRelation(sql, "schema_migrations"))) return [];
  return sql<AppliedRow[]>`select name, checksum, applied_at from schema_migrations order by name`;
}

async function findRequirement(sql: Sql): Promise<string | null> {
  if (!(await existsRelation(sql, "schema_compatibility"))) return null;
  return firstValue(sql<{ name: string | null }[]>`
    select max(required_migration) as name from schema_compatibility`);
}
