/** Builds the JSON of definitions in PostgreSQL. The API forwards the text. */
import { type Fragment, fragment, rawFragment } from "../connection/pool.ts";
import { selectFields } from "./definition_field.ts";
import { DEFINITION_FIELDS, SUMMARY_FIELDS } from "./fields.ts";
import { type DefinitionViewer, isVisible } from "./visibility.ts";

/** The long text fields of a definition to include in its JSON. */
export interface ShownTexts {
  includeYaml: boolean;
  includeRuntime: boolean;
}

/**
 * Returns joins for a query over DEFINITION_TABLES. The row `shown` has the fields, for `row_to_json(shown)`; a join is faster here
 * than a subquery. The row `source` has the id of the version that the line was forked from. The id is null if the line is not a
 * fork or the viewer cannot see the source. The id of a deleted source is kept.
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

/** Returns joins for the fields of a summary, as in lists. */
export function joinSummary(viewer: DefinitionViewer): Fragment {
  return joinFields(SUMMARY_COLUMNS, viewer);
}

/** The columns of a full definition, by `includeYaml` and `includeRuntime`. Index 0 includes the text, and index 1 omits it. */
const DEFINITION_COLUMNS = [true, false].map((includeYaml) =>
  [true, false].map((includeRuntime) => {
    const shown = Object.entries(DEFINITION_FIELDS).filter(
      ([name]) => (includeYaml || name !== "yaml") && (includeRuntime || name !== "runtimeMd"),
    );
    return selectFields(Object.fromEntries(shown), "json");
  }),
);

/** Returns joins for the fields of a full definition, with only the requested texts. */
export function joinDefinition(
  { includeYaml, includeRuntime }: ShownTexts,
  viewer: DefinitionViewer,
): Fragment {
  const columns = DEFINITION_COLUMNS[includeYaml ? 0 : 1]?.[includeRuntime ? 0 : 1] ?? "";
  return joinFields(columns, viewer);
}
