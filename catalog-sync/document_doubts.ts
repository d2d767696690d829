/** Finds reasons to hold a new catalog document, because it would remove too many models or prices at once. Pure. */
import type { DocumentDoubt } from "../sql/models/catalog_syncs.ts";
import { type ModelRow, modelKeyText } from "../sql/models/models.ts";
import type { MappedCatalog } from "./map_catalog.ts";
import { createSkipTest, type StoredCatalog } from "./plan.ts";

/**
 * The minimum number of models for comparing shares. A smaller catalog is doubtful only if the document has less than half as
 * many models.
 */
const MIN_MODELS = 10;
/** The largest share of models, of the whole catalog or of one provider, that may lose their row or price. */
const MAX_SHARE = 0.1;
const MAX_SHARE_OF_PROVIDER = 0.5;
/** The limit is higher for the first sync after the bundled copy, which may be months old. */
const MAX_SHARE_OF_OLD_COPY = 0.5;

const MAX_REASONS = 3;

export interface Doubt extends DocumentDoubt {
  reason: string;
}

/** Returns the doubts about a document that would replace the stored catalog. */
export function findDoubts(
  stored: StoredCatalog,
  mapped: MappedCatalog,
  { isOldCopy }: { isOldCopy: boolean },
): Doubt[] {
  const live = stored.models.filter((model) => model.removedAt === null);
  const found = new Map(mapped.models.map((model) => [modelKeyText(model), model]));
  const wasSkipped = createSkipTest(mapped.skipped);
  const isGone = (model: ModelRow) => !found.has(modelKeyText(model)) && !wasSkipped(model);
  const losesPrice = (model: ModelRow) => {
    const next = found.get(modelKeyText(model));
    return next !== undefined && "input" in model.prices && !("input" in next.prices);
  };
  const tests = [
    { code: "gone", action: "remove", test: isGone },
    { code: "unpriced", action: "take the price from", test: losesPrice },
  ];
  const findIn = (models: readonly ModelRow[], maxShare: number, provider: string | null): Doubt[] =>
    tests.flatMap(({ code, action, test }) => {
      const count = models.filter(test).length;
      const isHalved = provider === null && mapped.models.length < models.length / 2;
      if (models.length < MIN_MODELS && !isHalved) return [];
      if (count <= maxShare * models.length) return [];
      const extent = `${count} of ${models.length}`;
      const reason = `it would ${action} ${extent} models`;
      return provider === null
        ? { code, extent, reason }
        : { code: `${code} ${provider}`, extent, reason: `${reason} of ${provider}` };
    });
  if (isOldCopy) return findIn(live, MAX_SHARE_OF_OLD_COPY, null);
  const providers = [...Map.groupBy(live, (model) => model.provider)];
  return [
    ...findIn(live, MAX_SHARE, null),
    ...providers.flatMap(([provider, models]) => findIn(models, MAX_SHARE_OF_PROVIDER, provider)),
  ];
}

/** The reasons why a document is held. */
export interface DocumentHold {
  doubts: readonly Doubt[];
  /** True if an operator has rejected any of the doubts. */
  isRejected: boolean;
}

export function describeHold({ doubts, isRejected }: DocumentHold): string {
  const reasons = doubts.slice(0, MAX_REASONS).map(({ reason }) => reason);
  const more = doubts.length - reasons.length;
  const list = [...reasons, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const accepted = "after `bun run admin catalog accept --document`";
  const taken = isRejected
    ? `only ${accepted}`
    : `if a sync at least an hour later finds the same, or ${accepted}`;
  const rejected = isRejected ? " An operator has rejected it." : "";
  return `the document waits: ${list}.${rejected} It is taken ${taken}`;
}
