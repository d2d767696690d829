/** Reads an agent for rendering: its type, the blocks that the type requires, and the blocks that do not belong to it. */
import { toItems, toRecord } from "../../../plain_values.ts";
import { scalarText } from "../../../yaml/scalars.ts";
import { humanize } from "../generic_section.ts";
import { type Inline, prose } from "../inline.ts";
import type { Source } from "../markdown_file.ts";
import { TranslationFailure } from "../translation_failure.ts";

interface TypeRules {
  /** Blocks that the agent must have to be rendered. */
  needs: readonly string[];
  /** Blocks that stay in the document but are omitted from the text. */
  leavesOut: readonly string[];
}

/** The blocks by type of agent. docs/languages.md has the same table. */
export const AGENT_BLOCKS = {
  validator: { needs: ["scoring", "decisions"], leavesOut: ["tasks", "completion", "rollback", "forecast"] },
  executor: { needs: ["tasks", "completion"], leavesOut: ["scoring", "decisions", "deductions", "forecast"] },
  analyst: { needs: ["process"], leavesOut: ["tasks", "completion", "rollback", "forecast"] },
  generator: { needs: ["tasks"], leavesOut: ["scoring", "deductions", "auto_fail", "forecast"] },
  explorer: {
    needs: ["mission"],
    leavesOut: [
      "scoring",
      "decisions",
      "deductions",
      "auto_fail",
      "tasks",
      "completion",
      "rollback",
      "forecast",
    ],
  },
  forecaster: { needs: ["mission", "process"], leavesOut: ["tasks", "completion", "rollback"] },
} as const satisfies Record<string, TypeRules>;

type TranslatableAgentType = keyof typeof AGENT_BLOCKS;

export interface Agent extends Source {
  type: TranslatableAgentType;
  /** The names of the scoring categories by id. Other blocks refer to categories by id. */
  categoryNames: ReadonlyMap<string, string>;
}

/**
 * Reads the type, and omits the blocks that do not belong to it. Fails with `unknown_agent_type`, or with all
 * `missing_block`, `empty_tasks` and `bad_scoring` failures, in this order.
 */
export function readAgent(source: Source): Agent {
  const type = readType(source);
  const { body } = source;
  const { needs, leavesOut }: TypeRules = AGENT_BLOCKS[type];
  const categoryNames = readCategoryNames(source);
  body.omit(leavesOut);
  const missing = needs.filter((block) => !body.hasMap(block)).map((block) => missingBlock(type, block));
  const [first, ...others] = [...missing, ...emptyLists(source)];
  if (first) throw Object.assign(first, { others });
  return { ...source, type, categoryNames };
}

/** Returns the name of the category with the id, or a readable form of the id. Returns `null` without an id. */
export function categoryTitle(agent: Agent, id: string | null): Inline | null {
  return id === null ? null : prose(agent.categoryNames.get(id) ?? humanize(id));
}

function readCategoryNames({ body }: Source): ReadonlyMap<string, string> {
  const { categories } = toRecord(body.peek("scoring"));
  const names = new Map<string, string>();
  for (const category of toItems(categories)) {
    const { id, name } = toRecord(category);
    const [idText, nameText] = [scalarText(id), scalarText(name)];
    if (idText !== null && nameText !== null) names.set(idText, nameText);
  }
  return names;
}

function missingBlock(type: TranslatableAgentType, block: string): TranslationFailure {
  const message = `An agent of type ${type} needs "${block}"`;
  return new TranslationFailure("missing_block", `agent.${block}`, message);
}

function readType(source: Source): TranslatableAgentType {
  const type = source.interface.raw("agentType");
  if (typeof type === "string" && Object.hasOwn(AGENT_BLOCKS, type)) return type as TranslatableAgentType;
  const message = `"agentType" must be one of ${Object.keys(AGENT_BLOCKS).join(", ")}`;
  throw new TranslationFailure("unknown_agent_type", "agent.interface.agentType", message);
}

/** Lists that must have an entry if their block is used. */
const LISTS = [
  { block: "tasks", key: "operations", reason: "empty_tasks" },
  { block: "scoring", key: "categories", reason: "bad_scoring" },
] as const;

function emptyLists({ body }: Source): TranslationFailure[] {
  return LISTS.flatMap(({ block, key, reason }) => {
    const items = body.map(block).peek(key);
    if (!body.hasMap(block) || (Array.isArray(items) && items.length > 0)) return [];
    const message = `"${key}" must be a list with at least one entry`;
    return [new TranslationFailure(reason, `agent.${block}.${key}`, message)];
  });
}
