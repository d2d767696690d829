/** Compares the tracker tables or views of a database with the requirements of exports. */
import { column, type ExportColumnType } from "../../shared/exports/column.ts";
import { EXPORT_DATASETS, type ExportDataset, PARENT_KEYS } from "../../shared/exports/datasets.ts";
import type { Sql, Transaction } from "../connection/pool.ts";
import { listDistributionDifferences, listUndistributedTables } from "./distribute_tracker.ts";
import { listNulls, listUnguardedSources, listUnsafeSources } from "./tracker_sources.ts";
import { OWN_TRACKER_SCHEMA, TRACKER_TABLE_NAMES, trackerTable, trackerTables } from "./tracker_tables.ts";
import {
  listMissingIndexes,
  listMissingLogTriggers,
  listMissingOwnIndexes,
  listMissingTriggers,
} from "./tracker_triggers_and_indexes.ts";
import { listUnvalidatedTimes, listWrongTimes } from "./wrong_times.ts";

interface Relation {
  name: string;
  /** Kind of the relation, as in `pg_class.relkind`. */
  kind: string;
  isReadable: boolean;
}

interface Column {
  tableName: string;
  columnName: string;
  type: string;
  isNotNull: boolean;
}

/** Returns one line per difference, with its effect. Empty if the database meets all requirements of exports. */
export async function listTrackerDifferences(sql: Transaction, schema: string): Promise<string[]> {
  const missing = await listMissingRelations(sql, schema);
  if (missing.length > 0) return missing;
  const relations = await listRelations(sql, schema);
  const columns = await listColumns(sql, schema);
  const datasets = Object.values(EXPORT_DATASETS);
  const wrongColumns = datasets.flatMap((dataset) => {
    const isView = relations.some(({ name, kind }) => name === dataset.table && kind === "v");
    return compareColumns(dataset, { columns, isView });
  });
  const tables = relations.filter(({ kind }) => kind !== "v").map(({ name }) => name);
  const views = relations.filter(({ kind }) => kind === "v").map(({ name }) => name);
  return [
    ...wrongColumns,
    ...(await listMissingKeys(sql, schema, tables)),
    ...(await listMissingTriggers(sql, schema, tables)),
    ...(await listMissingIndexes(sql, schema, datasets.filter(hasKeyColumns(columns)))),
    // The queries of these checks fail if columns are wrong.
    ...(wrongColumns.length > 0
      ? []
      : [...(await listNulls(sql, schema, views)), ...(await listWrongTimes(sql, schema))]),
    ...(schema === OWN_TRACKER_SCHEMA
      ? [
          ...(await listMissingLogTriggers(sql)),
          ...(await listMissingOwnIndexes(sql)),
          ...(await listUnvalidatedTimes(sql)),
          ...(await listDistributionDifferences(sql)),
        ]
      : []),
    ...(await listUnguardedSources(sql, schema)),
    ...(await listUnsafeSources(sql, schema)),
  ];
}

/** Throws a one-line error if exports cannot read the tables. */
export async function requireTracker(sql: Sql, schema: string): Promise<void> {
  const [first, ...others] = await listMissingRelations(sql, schema);
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more: bun run admin tracker check)` : "";
  throw new Error(`TRACKER_SCHEMA: ${first}${more}`);
}

/** Returns whether exports can read the tables, judging only by their names, kinds and grants. */
export async function isTrackerReadable(sql: Sql, schema: string): Promise<boolean> {
  return (await listMissingRelations(sql, schema)).length === 0;
}

/** Returns the reasons why no export can read the tables, one line per reason. */
async function listMissingRelations(sql: Sql, schema: string): Promise<string[]> {
  const [found] = await sql<[{ exists: boolean; isUsable: boolean; role: string }]>`
    select
      current_user as role,
      to_regnamespace(quote_ident(${schema})) is not null as exists,
      coalesce(has_schema_privilege(to_regnamespace(quote_ident(${schema})), 'usage'), false) as is_usable`;
  if (!found.exists)
    return [`schema "${schema}": missing; set TRACKER_SCHEMA to the schema of the tables or views`];
  const { role } = found;
  if (!found.isUsable) return [`schema "${schema}": grant usage on schema "${schema}" to "${role}"`];
  const relations = await listRelations(sql, schema);
  return TRACKER_TABLE_NAMES.flatMap((table) => {
    const relation = relations.find(({ name }) => name === table);
    if (!relation) return [`${schema}.${table}: missing; exports cannot read this dataset`];
    if (!["r", "p", "v"].includes(relation.kind)) {
      return [`${schema}.${table}: neither a table nor a view; its rows may appear after the cutoff`];
    }
    return relation.isReadable
      ? []
      : [
          `${schema}.${table}: not readable; run: grant select on ${trackerTable(schema, table)} to "${role}"`,
        ];
  });
}

async function listRelations(sql: Sql, schema: string): Promise<Relation[]> {
  return sql<Relation[]>`
    select c.relname as name, c.relkind::text as kind, has_table_privilege(c.oid, 'select') as is_readable
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = any (${[...TRACKER_TABLE_NAMES]})`;
}

async function listColumns(sql: Sql, schema: string): Promise<Column[]> {
  return sql<Column[]>`
    select
      c.relname as table_name,
      a.attname as column_name,
      format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as is_not_null
    from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.oid = any (${trackerTables(schema)}::text[]::regclass[]) and a.attnum > 0 and not a.attisdropped`;
}

/** The name of each column type, and the accepted results of `format_type`. */
const TYPES: Readonly<Record<ExportColumnType, { name: string; accepted: RegExp }>> = {
  uuid: { name: "uuid", accepted: /^uuid$/ },
  text: { name: "text", accepted: /^(text|character varying(\(\d+\))?)$/ },
  integer: { name: "integer", accepted: /^(integer|smallint)$/ },
  number: { name: "double precision", accepted: /^double precision$/ },
  boolean: { name: "boolean", accepted: /^boolean$/ },
  timestamp: { name: "timestamp with time zone", accepted: /^timestamp(\(\d\))? with time zone$/ },
  json: { name: "jsonb", accepted: /^jsonb$/ },
};

function compareColumns(
  { table, columns: wanted }: ExportDataset,
  { columns, isView }: { columns: readonly Column[]; isView: boolean },
): string[] {
  const hasProject = wanted.some((each) => each.column === "project_id");
  const all = hasProject ? wanted : [column.uuid("project_id", "The project"), ...wanted];
  return all.flatMap((each) => {
    const found = columns.find(
      ({ tableName, columnName }) => tableName === table && columnName === each.column,
    );
    const name = `${table}.${each.column}`;
    if (!found) return [`${name}: missing; exports of this dataset fail`];
    const { name: type, accepted } = TYPES[each.type];
    if (!accepted.test(found.type) && !(each.bits === 64 && found.type === "bigint")) {
      return [`${name}: ${found.type} instead of ${type}; exports would fail or print other values`];
    }
    // PostgreSQL never marks columns of a view as not null.
    if (isView || each.nullable || found.isNotNull) return [];
    return [`${name}: allows null; exports promise a value, and a null reference hides the row`];
  });
}

/** Returns a predicate for datasets that have all columns that exports filter and sort by. */
function hasKeyColumns(columns: readonly Column[]): (dataset: ExportDataset) => boolean {
  return ({ table, timeColumn }) =>
    ["project_id", timeColumn, "id"].every((wanted) =>
      columns.some(({ tableName, columnName }) => tableName === table && columnName === wanted),
    );
}

async function listMissingKeys(sql: Sql, schema: string, tables: readonly string[]): Promise<string[]> {
  const rows = await sql<{ table: string; type: string; key: string }[]>`
    select c.relname as table, k.contype::text as type, pg_get_constraintdef(k.oid) as key
    from pg_constraint as k
    join pg_class as c on c.oid = k.conrelid
    where c.oid = any (${trackerTables(schema)}::text[]::regclass[]) and k.contype in ('p', 'f')`;
  // Distributed tables cannot have a foreign key to `projects`. Tables of other schemas need no foreign key to our `projects`.
  const local = schema === OWN_TRACKER_SCHEMA ? await listUndistributedTables(sql) : [];
  return Object.values(EXPORT_DATASETS)
    .filter(({ table }) => tables.includes(table))
    .flatMap(({ table, parents }) => {
      const needsProject = parents.length === 0 && local.includes(table);
      const has = (start: string) => rows.some((row) => row.table === table && row.key.startsWith(start));
      const keys = parents.map((parent) => `FOREIGN KEY (project_id, ${PARENT_KEYS[parent]})`);
      return [
        ...(has("PRIMARY KEY (project_id, id)")
          ? []
          : [`${table}: no primary key (project_id, id); a row may be exported twice`]),
        ...(needsProject && !has("FOREIGN KEY (project_id) REFERENCES projects(id)")
          ? [`${table}: no foreign key ${table}_project_id_fkey to projects; rows may belong to no project`]
          : []),
        ...keys
          .filter((key) => !has(key))
          .map((key) => `${table}: no ${key}; exports may have rows without a parent`),
      ];
    });
}
