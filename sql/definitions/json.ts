/** Definitions as the API shows them: PostgreSQL writes the JSON, and the API passes the text on. */
import type { Sql } from "../connection/pool.ts";
import { type DefinitionFields, selectFields } from "./field_type.ts";
import { DEFINITION_FIELDS, SUMMARY_FIELDS } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

/** Which of a definition's texts are shown. */
export interface ShownTexts {
  includeYaml: boolean;
  includeRuntime: boolean;
}

/**
 * Joins the fields as a row `shown`, for `row_to_json(shown)`, to a query over DEFINITION_TABLES; PostgreSQL is faster
 * with a join than with a subquery. What the line was forked from is joined as `source`, without an id where there is
 * none, or one that the viewer may not see. What is gone stays known.
 */
function joinFields(sql: Sql, fields: DefinitionFields, viewer: DefinitionViewer) {
  return sql`
    left join lateral (
      select l.forked_from_id as id
      where l.forked_from_id is not null
        and not exists (select from definitions as d where d.id = l.forked_from_id and not ${isVisible(sql, viewer)})
    ) as source on true
    cross join lateral (select ${sql.unsafe(selectFields(fields, "json"))}) as shown`;
}

/** Joins a summary, which is an item of a list. */
export function joinSummary(sql: Sql, viewer: DefinitionViewer) {
  return joinFields(sql, SUMMARY_FIELDS, viewer);
}

/** Joins the full definition without the texts that are not shown. */
export function joinDefinition(
  sql: Sql,
  { includeYaml, includeRuntime }: ShownTexts,
  viewer: DefinitionViewer,
) {
  const hidden = [...(includeYaml ? [] : ["yaml"]), ...(includeRuntime ? [] : ["runtimeMd"])];
  const shown = Object.entries(DEFINITION_FIELDS).filter(([name]) => !hidden.includes(name));
  return joinFields(sql, Object.fromEntries(shown), viewer);
}
