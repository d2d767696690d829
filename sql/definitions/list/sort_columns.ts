/** Sort orders of lists, and the first rows in each of them. */
import type { Fragment, Sql } from "../../connection/pool.ts";
import { type ListScope, listedRows, selectListed } from "./list_scope.ts";

export const DEFINITION_SORTS = [
  "name",
  "createdAt",
  "updatedAt",
  "executionCount",
  "uniqueExecutionCount",
] as const;
export type DefinitionSort = (typeof DEFINITION_SORTS)[number];

export interface DefinitionOrder {
  sortBy: DefinitionSort;
  sortOrder: "asc" | "desc";
}

/** Columns of `definition_listings as v`, or of its `definition_lines as l`. */
const SORT_COLUMNS: Readonly<Record<DefinitionSort, string>> = {
  name: "v.name",
  createdAt: "v.created_at",
  updatedAt: "v.updated_at",
  executionCount: "l.execution_count",
  uniqueExecutionCount: "l.unique_execution_count",
};

/**
 * Returns the columns that `orderKeys` sorts by. Executions are counted on the line; the other orders are read from their
 * index alone, which has no line.
 */
function orderColumns(sql: Sql, order: DefinitionOrder): Fragment {
  const line = isOfLine(order) ? "v.line_id, " : "";
  return sql.unsafe(`v.definition_id, ${line}${SORT_COLUMNS[order.sortBy]} as sort_key`);
}

function joinLine(sql: Sql, order: DefinitionOrder): Fragment {
  return isOfLine(order) ? sql`join definition_lines as l on l.id = v.line_id` : sql``;
}

/** Returns the keys of `order by`; the last one breaks ties. */
export function orderKeys(sql: Sql, order: DefinitionOrder): Fragment {
  const direction = order.sortOrder === "asc" ? "asc" : "desc";
  const keys = isOfLine(order) ? ["sort_key", "line_id", "definition_id"] : ["sort_key", "definition_id"];
  return sql.unsafe(keys.map((key) => `${key} ${direction}`).join(", "));
}

function isOfLine({ sortBy }: DefinitionOrder): boolean {
  return sortBy === "executionCount" || sortBy === "uniqueExecutionCount";
}

/** Returns a function that selects the first rows in an order, or somewhat more: up to `count` of each kind of row. */
export function firstRows(sql: Sql, scope: ListScope, order: DefinitionOrder) {
  const listed = listedRows(sql, scope);
  const [columns, join, keys] = [orderColumns(sql, order), joinLine(sql, order), orderKeys(sql, order)];
  return ({ condition, count }: { condition: Fragment; count: Fragment }): Fragment =>
    selectListed(sql, listed, { columns, join, condition, rest: sql`order by ${keys} limit ${count}` });
}
