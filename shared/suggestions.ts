/** Suggests names similar to an unknown one. Pure. */

const MAX_SUGGESTIONS = 3;
/** Below this, names have only a few letters in common. */
const MIN_SIMILARITY = 0.4;
/** Longer texts are not typos. */
const MAX_LENGTH = 200;

/** Returns up to three names most similar to `given`, best first. Case and punctuation do not count. */
export function suggestNames(
  given: string,
  names: Iterable<string>,
  { minSimilarity = MIN_SIMILARITY } = {},
): string[] {
  if (given.length > MAX_LENGTH) return [];
  const pairs = pairsOf(given);
  const found: { name: string; similarity: number }[] = [];
  for (const name of names) {
    const similarity = similarityOf(pairs, pairsOf(name));
    if (similarity >= minSimilarity) found.push({ name, similarity });
  }
  return found
    .sort(
      (a, b) => b.similarity - a.similarity || a.name.length - b.name.length || (a.name < b.name ? -1 : 1),
    )
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** Returns the pairs of adjacent letters and digits, including pairs with the beginning and the end. */
function pairsOf(text: string): ReadonlySet<string> {
  const bare = `^${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")}$`;
  return new Set(Array.from({ length: bare.length - 1 }, (_, n) => bare.slice(n, n + 2)));
}

/** Dice's coefficient: 1 for the same pairs, 0 for none in common. */
function similarityOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of a) if (b.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}
