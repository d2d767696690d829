/** Makes the JSON of definitions in PostgreSQL; the API passes the text on. */
import { type Fragment, fragment, rawFragment } from "../connection/pool.ts";
import { type FieldMap, selectFields } from "./field_type.ts";
import { DEFINITION_FIELDS, SUMMARY_FIELDS } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

/** Which texts of a definition to include. */
export interface ShownTexts {
  includeYaml: boolean;
  includeRuntime: boolean;
}

/**
 * Joins the fields as a row `shown`, for `row_to_json(shown)`, to a query over DEFINITION_TABLES; a join is faster here
 * than a subquery. Also joins the id of the line's fork source as `source`: null if there is none or the viewer cannot
 * see it. A deleted source keeps its id.
 */
function joinFields(fields: FieldMap, viewer: DefinitionViewer): Fragment {
  return fragment`
    left join lateral (
      select l.forked_from_id as id
      where l.forked_from_id is not null
        and not exists (select from definitions as d where d.id = l.forked_from_id and not ${isVisible(viewer)})
    ) as source on true
    cross join lateral (select ${rawFragment(selectFields(fields, "json"))}) as shown`;
}

/** Joins the fields of a summary, as in lists. */
export function joinSummary(viewer: DefinitionViewer): Fragment {
  return joinFields(SUMMARY_FIELDS, viewer);
}

/** Joins the fields of a full definition, with the requested texts only. */
export function joinDefinition(
  { includeYaml, includeRuntime }: ShownTexts,
  viewer: DefinitionViewer,
): Fragment {
  const shown = Object.entries(DEFINITION_FIELDS).filter(
    ([name]) => (includeYaml || name !== "yaml") && (includeRuntime || name !== "runtimeMd"),
  );
  return joinFields(Object.fromEntries(shown), viewer);
}
