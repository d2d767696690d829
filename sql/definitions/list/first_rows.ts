/** The first rows of a list, in any of its sort orders. */
import type { Fragment, Sql } from "../../connection/pool.ts";
import { type ListScope, listedRows, selectListed } from "./list_scope.ts";
import { type DefinitionOrder, joinLine, orderColumns, orderKeys } from "./sort_columns.ts";

/** Returns a function that selects the first rows in an order, or somewhat more: up to `count` of each kind of row. */
export function firstRows(sql: Sql, scope: ListScope, order: DefinitionOrder) {
  const listed = listedRows(sql, scope);
  const [columns, join, keys] = [orderColumns(sql, order), joinLine(sql, order), orderKeys(sql, order)];
  return ({ condition, count }: { condition: Fragment; count: Fragment }): Fragment =>
    selectListed(sql, listed, { columns, join, condition, rest: sql`order by ${keys} limit ${count}` });
}
