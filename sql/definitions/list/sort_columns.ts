/** Sort orders of lists, and queries for the first rows in each order. */
import { type Fragment, fragment, rawFragment } from "../../connection/pool.ts";
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

/** Sort columns, from `definition_listings as v` or the joined `definition_lines as l`. */
const SORT_COLUMNS: Readonly<Record<DefinitionSort, string>> = {
  name: "v.name",
  createdAt: "v.created_at",
  updatedAt: "v.updated_at",
  executionCount: "l.execution_count",
  uniqueExecutionCount: "l.unique_execution_count",
};

/**
 * Returns the columns that `orderKeys` sorts by. The line id is needed only for execution counts, which are stored on the line. The
 * other orders use index-only scans of indexes that do not contain the line id.
 */
function orderColumns(order: DefinitionOrder): Fragment {
  const line = isOfLine(order) ? "v.line_id, " : "";
  return rawFragment(`v.definition_id, ${line}${SORT_COLUMNS[order.sortBy]} as sort_key`);
}

function joinLine(order: DefinitionOrder): Fragment {
  return isOfLine(order) ? fragment`join definition_lines as l on l.id = v.line_id` : fragment``;
}

/** Returns the sort keys for `order by`. The last key breaks ties. */
export function orderKeys(order: DefinitionOrder): Fragment {
  const direction = order.sortOrder === "asc" ? "asc" : "desc";
  const keys = isOfLine(order) ? ["sort_key", "line_id", "definition_id"] : ["sort_key", "definition_id"];
  return rawFragment(keys.map((key) => `${key} ${direction}`).join(", "));
}

function isOfLine({ sortBy }: DefinitionOrder): boolean {
  return sortBy === "executionCount" || sortBy === "uniqueExecutionCount";
}

/**
 * Returns a function that selects the first rows in an order. The function selects up to `count` public rows and up to `count` rows
 * of the viewer's organizations, so the caller must limit the result again.
 */
export function firstRows(scope: ListScope, order: DefinitionOrder) {
  const listed = listedRows(scope);
  const [columns, join, keys] = [orderColumns(order), joinLine(order), orderKeys(order)];
  return ({ condition, count }: { condition: Fragment; count: Fragment }): Fragment =>
    selectListed(listed, { columns, join, condition, rest: fragment`order by ${keys} limit ${count}` });
}
