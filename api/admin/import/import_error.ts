/** Explains why PostgreSQL refused an imported row: dataset, row and rule. */
import type { ExportDataset } from "../../../shared/exports/datasets.ts";
import type { StatementError } from "../../../sql/connection/pool.ts";

/** `Failing row contains (<project>, <id>, …)`: every tracker table starts with both columns. */
const FAILING_ROW = /^Failing row contains \((?:[0-9a-f-]{36}|null), ([0-9a-f-]{36})/;
/** `Key (project_id, issue_id)=(<project>, <value>) …` */
const KEY = /^Key \(project_id, (\w+)\)=\([^,]*, (.*)\)/;

/** Returns a reason that follows "Cannot import …:". */
export function describeImportError(error: StatementError, dataset: ExportDataset): string {
  return `${dataset.name}: ${reason(error, dataset)}`;
}

function reason(error: StatementError, dataset: ExportDataset): string {
  const [, keyColumn = "", key = ""] = KEY.exec(error.detail) ?? [];
  const row = FAILING_ROW.exec(error.detail)?.[1] ?? "without an id";
  switch (error.sqlState) {
    case "23503": {
      const parent = keyColumn === "run_id" ? "run" : "issue";
      return `a row belongs to ${parent} ${key}, which is neither in the bundle nor in the project. Was the ${parent} excluded from the export?`;
    }
    case "23505":
      return `another row of the project already has ${jsonName(keyColumn, dataset)} ${key}`;
    case "23502": {
      const column = error.column || firstName(error);
      if (column === "project_id") return `row ${row} belongs to another project`;
      return `row ${row} has no ${jsonName(column, dataset)}`;
    }
    case "23514": {
      // The refused table may be a partition, whose checks are named after the partitioned table, or a shard, whose
      // checks end with its number.
      const constraint = (error.constraint || lastName(error)).replace(/_\d+$/, "");
      const column = constraint.slice(dataset.table.length + 1).replace(/_check$/, "");
      const isTime = dataset.columns.some((each) => each.column === column && each.type === "timestamp");
      const name = jsonName(column, dataset);
      return isTime
        ? `row ${row} has a time outside the years 1 to 9999 as ${name}`
        : `row ${row} has an invalid ${name}`;
    }
    case "22003":
      return "a row has a number that is too large or too close to zero";
    default:
      // Citus looks for the row's node before any constraint, and a row of another project has none.
      if (error.message.startsWith("the partition column of table"))
        return "a row belongs to another project";
      return error.message;
  }
}

/** What the message of an error quotes: Citus hands on nothing else of an error on a node. */
function quotedNames({ message }: StatementError): string[] {
  return [...message.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

function firstName(error: StatementError): string {
  return quotedNames(error)[0] ?? "";
}

function lastName(error: StatementError): string {
  return quotedNames(error).at(-1) ?? "";
}

function jsonName(column: string, dataset: ExportDataset): string {
  return dataset.columns.find((candidate) => candidate.column === column)?.name ?? column;
}
