/** The items of a page of definitions, of which those that were read before need not be made again. */
import type { JsonText } from "../shared/json_text.ts";
import { DEFINITION_VERSION, JOIN_LIST_ITEM } from "./definition_json.ts";
import type { PageEntry } from "./definition_page_steps.ts";
import type { Sql } from "./pool.ts";
import type { RowTexts } from "./row_texts.ts";

/** The items of the entries, in the same order; `null` when one of them is not any more what was listed. */
export async function readItems(
  sql: Sql,
  texts: RowTexts,
  entries: readonly PageEntry[],
): Promise<JsonText[] | null> {
  const known = entries.map(({ id, version }) => texts.find(id, version));
  const missing = entries.filter((_entry, index) => known[index] === null);
  const made = missing.length === 0 ? new Map<string, MadeItem>() : await makeItems(sql, missing);
  const items = entries.map(({ id, version }, index) => {
    const item = made.get(id);
    return item?.version === version ? texts.keep(id, version, item.json) : (known[index] ?? null);
  });
  return items.every((item) => item !== null) ? items : null;
}

interface MadeItem {
  id: string;
  version: string;
  json: string;
}

/** Each is looked up on its own, as the planner does not know how few there are. */
async function makeItems(sql: Sql, entries: readonly PageEntry[]): Promise<Map<string, MadeItem>> {
  const rows = await sql<MadeItem[]>`
    select wanted.id, found.version, found.json
    from unnest(${entries.map(({ id }) => id)}::uuid[]) as wanted (id)
    cross join lateral (
      select ${sql.unsafe(DEFINITION_VERSION)} as version, row_to_json(shown)::text as json
      from definitions as d
      join definition_lines as l on l.id = d.line_id
      join organizations as o on o.id = d.org_id
      ${sql.unsafe(JOIN_LIST_ITEM)}
      where d.id = wanted.id
      limit 1
    ) as found`;
  return new Map(rows.map((row) => [row.id, row]));
}
