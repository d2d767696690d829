/** The items of a page of definitions, of which those that were read before need not be made again. */
import type { JsonText } from "../shared/json_text.ts";
import { JOIN_LIST_ITEM } from "./definition_json.ts";
import type { PageEntry } from "./definition_page_steps.ts";
import type { Sql } from "./pool.ts";
import type { RowTexts } from "./row_texts.ts";

/** The items of the entries, in the same order. Call in the transaction that has listed them. */
export async function readItems(
  sql: Sql,
  texts: RowTexts,
  entries: readonly PageEntry[],
): Promise<JsonText[]> {
  const known = entries.map(({ id, version }) => texts.find(id, version));
  const missing = entries.filter((_entry, index) => known[index] === null);
  const made = missing.length === 0 ? new Map<string, string>() : await makeItems(sql, missing);
  return entries.map(({ id, version }, index) => {
    const json = made.get(id);
    if (json !== undefined) return texts.keep(id, version, json);
    return requireText(known[index] ?? null);
  });
}

/** Each is looked up on its own, as the planner does not know how few there are. */
async function makeItems(sql: Sql, entries: readonly PageEntry[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; item: string }[]>`
    select wanted.id, found.item
    from unnest(${entries.map(({ id }) => id)}::uuid[]) as wanted (id)
    cross join lateral (
      select row_to_json(shown)::text as item
      from definitions as d
      join definition_lines as l on l.id = d.line_id
      join organizations as o on o.id = d.org_id
      ${sql.unsafe(JOIN_LIST_ITEM)}
      where d.id = wanted.id
      limit 1
    ) as found`;
  return new Map(rows.map(({ id, item }) => [id, item]));
}

function requireText(text: JsonText | null): JsonText {
  if (text === null) throw new Error("Cannot find a definition that this transaction has listed");
  return text;
}
