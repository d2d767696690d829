/** An agent on its way to Markdown. */
import { scalarText } from "../../../yaml/scalars.ts";
import { isRecord } from "../../../yaml/values.ts";
import type { Fields } from "../field_reader.ts";
import { humanize } from "../generic_section.ts";
import { type Inline, prose } from "../inline.ts";
import type { Source } from "../interface_block.ts";
import { belongs, type TranslatableAgentType } from "./agent_type.ts";

export interface Agent extends Source {
  type: TranslatableAgentType;
  /** Ids of scoring categories with their names: other blocks refer to categories by id. */
  categoryNames: ReadonlyMap<string, string>;
}

/** A block of the agent; `null` when it is absent, is no map, or does not belong to the agent's type. */
export function agentBlock(agent: Agent, key: string): Fields | null {
  return belongs(agent.type, key) ? agent.body.map(key) : null;
}

/** Name of the category with the id, or the id in readable words; `null` without an id. */
export function categoryTitle(agent: Agent, id: string | null): Inline | null {
  return id === null ? null : prose(agent.categoryNames.get(id) ?? humanize(id));
}

export function readCategoryNames(source: Source): ReadonlyMap<string, string> {
  const categories = source.body.map("scoring")?.peek("categories");
  const names = new Map<string, string>();
  for (const category of Array.isArray(categories) ? categories : []) {
    if (!isRecord(category)) continue;
    const [id, name] = [scalarText(category["id"]), scalarText(category["name"])];
    if (id !== null && name !== null) names.set(id, name);
  }
  return names;
}
