/** What each type of agent needs, and what does not belong to it (definition-languages, section 1). */
import type { Source } from "../interface_block.ts";
import { TranslationFailure } from "../translation_failure.ts";

interface TypeRules {
  /** Blocks without which the agent cannot be rendered. */
  needs: readonly string[];
  /** Blocks that are kept in the document and left out of the text. */
  leavesOut: readonly string[];
}

/** By type; docs/languages.md has the same table. */
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

export type TranslatableAgentType = keyof typeof AGENT_BLOCKS;

/** Fails with `unknown_agent_type`, or with every `missing_block`, `empty_tasks` and `bad_scoring`, in this order. */
export function checkAgent(source: Source): TranslatableAgentType {
  const type = readType(source);
  const { body } = source;
  const { needs, leavesOut }: TypeRules = AGENT_BLOCKS[type];
  const failures = [
    ...needs.filter((block) => !body.map(block)).map((block) => missingBlock(type, block)),
    ...emptyLists(source, leavesOut),
  ];
  const [first, ...others] = failures;
  if (first) throw Object.assign(first, { others });
  body.skip(...leavesOut);
  for (const block of leavesOut) body.map(block)?.discard();
  return type;
}

function missingBlock(type: TranslatableAgentType, block: string): TranslationFailure {
  const message = `An agent of type ${type} needs "${block}"`;
  return new TranslationFailure("missing_block", `agent.${block}`, message);
}

export function belongs(type: TranslatableAgentType, block: string): boolean {
  return !(AGENT_BLOCKS[type] as TypeRules).leavesOut.includes(block);
}

function readType(source: Source): TranslatableAgentType {
  const type = source.interface.raw("agentType");
  if (typeof type === "string" && Object.hasOwn(AGENT_BLOCKS, type)) return type as TranslatableAgentType;
  const known = Object.keys(AGENT_BLOCKS).join(", ");
  throw new TranslationFailure(
    "unknown_agent_type",
    "agent.interface.agentType",
    `"agentType" must be one of ${known}`,
  );
}

/** Lists that need an entry where their block is used. */
const LISTS = [
  { block: "tasks", key: "operations", reason: "empty_tasks" },
  { block: "scoring", key: "categories", reason: "bad_scoring" },
] as const;

function emptyLists({ body }: Source, leavesOut: readonly string[]): TranslationFailure[] {
  const used = LISTS.filter(({ block }) => body.map(block) && !leavesOut.includes(block));
  const empty = used.filter(({ block, key }) => {
    const items = body.map(block)?.peek(key);
    return !Array.isArray(items) || items.length === 0;
  });
  return empty.map(({ block, key, reason }) => {
    const message = `"${key}" must be a list with at least one entry`;
    return new TranslationFailure(reason, `agent.${block}.${key}`, message);
  });
}
