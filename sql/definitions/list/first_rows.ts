/** The first rows of a list, in any of its sort orders. */
import type { Fragment, Sql } from "../../connection/pool.ts";
import { type ListScope, selectListed } from "./list_scope.ts";
import { type DefinitionOrder, joinLine, orderColumns, orderKeys } from "./sort_columns.ts";

/** Selects the first rows in an order, or somewhat more: up to `count` of each kind of row. */
export function firstRows(
  sql: Sql,
  scope: ListScope,
  { order, condition, count }: { order: DefinitionOrder; condition: Fragment; count: Fragment },
): Fragment {
  return selectListed(sql, scope, {
    columns: orderColumns(sql, order),
    join: joinLine(sql, order),
    condition,
    rest: sql`order by ${orderKeys(sql, order)} limit ${count}`,
  });
}
