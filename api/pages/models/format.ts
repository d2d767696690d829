/** Formats token counts, price names and capabilities for the model pages. */
import type { ModelCapability } from "../../../shared/vocabulary.ts";
import { fieldWords } from "../forms.ts";
import { capitalized, formatPrice, UNKNOWN } from "../parts.ts";
import type { ModelItem } from "./model_responses.ts";

const TOKENS = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
/** Shown for a capability that the source does not mention. */
export const NOT_STATED = "–, not stated";

/** Formats a number of tokens with up to three digits: `128K`, `1.05M`. */
export function formatTokens(tokens: number | null | undefined): string {
  return tokens === null || tokens === undefined ? UNKNOWN : TOKENS.format(tokens);
}

/** Returns the label of a price in the API: `Input, over 200K context` for `tiers.200000.input`. */
export function priceLabel(field: string): string {
  const [, size, part = field] = /^tiers\.(\d+)\.(\w+)$/.exec(field) ?? [];
  const label = capitalized(fieldWords(part));
  return size === undefined ? label : `${label}, over ${formatTokens(Number(size))} context`;
}

export function priceOrUnknown(price: number | null): string {
  return price === null ? "unknown" : formatPrice(price);
}

export const CAPABILITY_LABELS: Readonly<Record<ModelCapability, string>> = {
  vision: "Vision",
  tools: "Tools",
  streaming: "Streaming, derived",
  reasoning: "Reasoning",
  structuredOutput: "Structured output",
  attachment: "Attachments",
};

/**
 * Returns `yes` or `no`, or NOT_STATED if the source does not state the capability. Streaming is derived, so it is always stated.
 */
export function formatCapability(
  name: ModelCapability,
  { capabilities, capabilitiesStated }: Pick<ModelItem, "capabilities" | "capabilitiesStated">,
): string {
  const isStated = name === "streaming" || capabilitiesStated.includes(name);
  if (!isStated) return NOT_STATED;
  return capabilities[name] ? "yes" : "no";
}
