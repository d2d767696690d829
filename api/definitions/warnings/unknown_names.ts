/** Warnings about models that the catalog does not have, and tools that the language does not have. */
import { TOOLS } from "../../../shared/definitions/language/agent_keys.ts";
import { suggestNames } from "../../../shared/suggestions.ts";
import type { PlacedName, ReadDocument } from "../../documents/read_document.ts";
import { nextTurn } from "../../http/yield_event_loop.ts";
import type { Catalog } from "../../models/catalog.ts";
import type { DefinitionDeps } from "../document.ts";
import type { Warning } from "../schemas.ts";

/** Models of the definition language itself; a coding agent knows what they stand for. */
const LANGUAGE_WORDS = ["haiku", "sonnet", "opus", "inherit"];
const LANGUAGE_MODEL = /^(?:(?:haiku|sonnet|opus)(?:-\d+(?:\.\d+)?)?|inherit)$/;

/**
 * Returns UNKNOWN_MODEL and UNKNOWN_TOOL warnings. Models are not checked while the catalog is empty. Call outside
 * transactions: comparing names takes milliseconds each.
 */
export async function listUnknownNames(
  { catalog }: Pick<DefinitionDeps, "catalog">,
  { models, unknownTools }: Pick<ReadDocument, "models" | "unknownTools">,
): Promise<Warning[]> {
  const warnings: Warning[] = [];
  const named = models.filter(({ text }) => !LANGUAGE_MODEL.test(text));
  if (catalog !== null && named.length > 0) {
    const current = (await catalog.current()).catalog;
    for (const model of named) {
      if (current.entries.length === 0 || isKnownModel(current, model.text)) continue;
      warnings.push(unknownModel(model, suggestModel(current, model.text)));
      await nextTurn();
    }
  }
  return [...warnings, ...unknownTools.map(unknownTool)];
}

/** An alias, `provider/modelId`, or a model id of any provider. Models that are gone count: they still resolve. */
function isKnownModel({ aliases, entries }: Catalog, text: string): boolean {
  if (aliases.get(text)?.entry) return true;
  return entries.some(({ row }) => row.modelId === text || `${row.provider}/${row.modelId}` === text);
}

function suggestModel({ aliases, entries }: Catalog, text: string): string | null {
  const named = [...aliases.values()].filter(({ row, entry }) => entry && !row.deprecated);
  const live = entries.filter(({ row }) => row.removedAt === null);
  const names = [
    ...LANGUAGE_WORDS,
    ...named.map(({ row }) => row.alias),
    ...live.map(({ row }) => `${row.provider}/${row.modelId}`),
  ];
  return suggestNames(text, names)[0] ?? null;
}

function unknownModel({ text, ...place }: PlacedName, suggestion: string | null): Warning {
  return {
    code: "UNKNOWN_MODEL",
    message: `The model catalog has no "${shorten(text)}".${adviceOf(suggestion)}`,
    details: { model: shorten(text), suggestion },
    ...place,
  };
}

function unknownTool({ text, ...place }: PlacedName): Warning {
  const suggestion = suggestNames(text, TOOLS)[0] ?? null;
  const advice = suggestion === null ? ` The tools are ${TOOLS.join(", ")}.` : adviceOf(suggestion);
  return {
    code: "UNKNOWN_TOOL",
    message: `"${shorten(text)}" is not a tool of definitions.${advice}`,
    details: { tool: shorten(text), suggestion },
    ...place,
  };
}

function adviceOf(suggestion: string | null): string {
  return suggestion === null ? "" : ` Did you mean "${suggestion}"?`;
}

const MAX_SHOWN = 200;

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}
