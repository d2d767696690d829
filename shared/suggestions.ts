/** Suggests names that are similar to an unknown name. Pure. */

const MAX_SUGGESTIONS = 3;
/** The minimum similarity. Below it, names have only a few letters in common. */
const MIN_SIMILARITY = 0.4;
/** The maximum length of an unknown name. Longer texts are not typos. */
const MAX_LENGTH = 200;

/** Returns up to three names that are most similar to `value`, best first. Ignores case and punctuation. */
export function suggestNames(value: string, names: Iterable<string>, options: SuggestOptions = {}): string[] {
  return createSuggester(names, options)(value);
}

interface SuggestOptions {
  minSimilarity?: number;
}

export type Suggest = (given: string) => string[];

/** Indexes names, so that many unknown names can be compared with them. */
export function createSuggester(
  names: Iterable<string>,
  { minSimilarity = MIN_SIMILARITY }: SuggestOptions = {},
): Suggest {
  const sizes: { name: string; size: number }[] = [];
  const byPair = new Map<string, number[]>();
  for (const name of names) {
    const pairs = pairsOf(name);
    for (const pair of pairs) {
      const places = byPair.get(pair);
      if (places) places.push(sizes.length);
      else byPair.set(pair, [sizes.length]);
    }
    sizes.push({ name, size: pairs.size });
  }
  return (value) => {
    if (value.length > MAX_LENGTH) return [];
    const pairs = pairsOf(value);
    const common = new Uint32Array(sizes.length);
    for (const pair of pairs)
      for (const index of byPair.get(pair) ?? []) common[index] = (common[index] ?? 0) + 1;
    // Computes Dice's coefficient, which is 1 for equal pairs and 0 for no common pairs.
    return sizes
      .map(({ name, size }, index) => ({
        name,
        similarity: (2 * (common[index] ?? 0)) / (pairs.size + size),
      }))
      .filter(({ similarity }) => similarity >= minSimilarity)
      .sort(
        (a, b) => b.similarity - a.similarity || a.name.length - b.name.length || (a.name < b.name ? -1 : 1),
      )
      .slice(0, MAX_SUGGESTIONS)
      .map(({ name }) => name);
  };
}

/** Returns the pairs of adjacent letters and digits. The start and the end of the text count as characters. */
function pairsOf(text: string): ReadonlySet<string> {
  const bare = `^${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")}$`;
  return new Set(Array.from({ length: bare.length - 1 }, (_, n) => bare.slice(n, n + 2)));
}
