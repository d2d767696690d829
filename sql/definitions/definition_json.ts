/** Makes the JSON of definitions in PostgreSQL; the API passes the text on. */
import { type Fragment, fragment, rawFragment } from "../connection/pool.ts";
import { selectFields } from "./definition_field.ts";
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
function joinFields(columns: string, viewer: DefinitionViewer): Fragment {
  return fragment`
    left join lateral (
      select l.forked_from_id as id
      where l.forked_from_id is not null
        and not exists (select from definitions as d where d.id = l.forked_from_id and not ${isVisible(viewer)})
    ) as source on true
    cross join lateral (select ${rawFragment(columns)}) as shown`;
}

const SUMMARY_COLUMNS = selectFields(SUMMARY_FIELDS, "json");

/** Joins the fields of a summary, as in lists. */
export function joinSummary(viewer: DefinitionViewer): Fragment {
  return joinFields(SUMMARY_COLUMNS, viewer);
}

/** The columns of a full definition: with or without the source, each with or without the rendering. Made once. */
const DEFINITION_COLUMNS = [true, false].map((includeYaml) =>
  [true, false].map((includeRuntime) => {
    const shown = Object.entries(DEFINITION_FIELDS).filter(
      ([name]) => (includeYaml || name !== "yaml") && (includeRuntime || name !== "runtimeMd"),
    );
    return selectFields(Object.fromEntries(shown), "json");
  }),
);

/** Joins the fields of a full definition, with the requested texts only. */
export function joinDefinition(
  { includeYaml, includeRuntime }: ShownTexts,
  viewer: DefinitionViewer,
): Fragment {
  const columns = DEFINITION_COLUMNS[includeYaml ? 0 : 1]?.[includeRuntime ? 0 : 1] ?? "";
  return joinFields(columns, viewer);
}
