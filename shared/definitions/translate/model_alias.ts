/** Aliases of models that coding agents know. */

/** Matches models such as `sonnet-4.5`, `claude-3-5-haiku-latest` and `anthropic/claude-sonnet-4-20250514`. */
const FAMILY = /^(?:(?:[\w.-]+\/)*(?:[\w-]+\.)*claude-[\w.-]*?)?\b(haiku|sonnet|opus)(?:$|[-@:.\d])/;

/** Returns the alias of a model of a known family, such as `sonnet`; `null` for other models. */
export function modelAlias(model: unknown): string | null {
  if (typeof model !== "string") return null;
  return model.trim() === "inherit" ? "inherit" : (FAMILY.exec(model.trim())?.[1] ?? null);
}

/** Returns the model if it is an alias itself; `null` otherwise, as for `sonnet-4.5`. */
export function bareModelAlias(model: unknown): string | null {
  const alias = modelAlias(model);
  return typeof model === "string" && model.trim() === alias ? alias : null;
}
