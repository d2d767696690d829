/** Determines a model's tier and the rule that applies. Pure. */
import type { ModelTier, ModelTierSource } from "../vocabulary.ts";
import { idWords, isEmbedding, normalizeModelId } from "./model_id.ts";

/** The fields of a model that the rules use, in the format of the source. */
export interface UntieredModel {
  provider: string;
  id: string;
  family?: string | undefined;
  modalities: { output: readonly string[] };
  /** The cost; `output` is missing if output is not billed, as with embeddings. */
  cost?: { input: number; output?: number | undefined } | undefined;
}

export interface Tiering {
  tier: ModelTier;
  tierSource: ModelTierSource;
}

/** The families of dedicated reasoning models. */
const REASONER_FAMILY =
  /^(?:o|o-mini|o-pro|deepseek-thinking|kimi-thinking|sonar-reasoning|sonar-deep-research|magistral.*|glm-z)$/;
const REASONER_WORD = /-(?:thinking|think|reasoner|reasoning|qwq|qvq|magistral|deep-research|r1|o1|o3|o4)-/;
const NO_REASONER_WORD = /-non-(?:thinking|reasoning)-/;

/** The upper bounds of the tiers for the blended price, in USD per million tokens. */
const BUDGET_BELOW_USD = 1;
const STANDARD_BELOW_USD = 7;

/**
 * Returns a function that determines the tier of any of `models`. If a model has no price, the prices of other providers
 * decide.
 */
export function createTiering(models: readonly UntieredModel[]): (model: UntieredModel) => Tiering {
  const peers = Map.groupBy(
    models.filter((model) => blendedPrice(model) > 0),
    (model) => normalizeModelId(model.id),
  );
  return (model) => {
    if (isReasoner(model)) return { tier: "reasoning", tierSource: "reasoner" };
    const price = blendedPrice(model);
    if (price > 0) return { tier: tierOf(price), tierSource: "price" };
    const others = (peers.get(normalizeModelId(model.id)) ?? []).filter(
      (peer) => peer.provider !== model.provider,
    );
    if (others.length > 0) return { tier: tierOf(median(others.map(blendedPrice))), tierSource: "peers" };
    return model.cost ? { tier: "budget", tierSource: "free" } : { tier: "standard", tierSource: "unpriced" };
  };
}

function isReasoner({ id, family = "", modalities }: UntieredModel): boolean {
  if (!modalities.output.includes("text") || isEmbedding(id)) return false;
  const words = idWords(id);
  return REASONER_FAMILY.test(family) || (REASONER_WORD.test(words) && !NO_REASONER_WORD.test(words));
}

/**
 * Returns the blended price of three parts input and one part output, in USD per million tokens. Returns 0 if the model is
 * free or has no price.
 */
function blendedPrice({ cost }: UntieredModel): number {
  return cost ? (3 * cost.input + (cost.output ?? cost.input)) / 4 : 0;
}

function tierOf(price: number): ModelTier {
  if (price < BUDGET_BELOW_USD) return "budget";
  return price < STANDARD_BELOW_USD ? "standard" : "premium";
}

/** Returns the middle value, or the mean of the two middle values. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
}
