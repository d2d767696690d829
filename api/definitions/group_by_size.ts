/** Divides work into groups of bounded size. */

/** Characters of text that one statement sends: a millisecond or two of the event loop. */
export const MAX_CHARACTERS_AT_ONCE = 262_144;

/** Groups neighbors so that their sizes add up to at most `max`. An item that is larger is a group of its own. */
export function groupBySize<Item>(
  items: readonly Item[],
  { sizeOf, max }: { sizeOf: (item: Item) => number; max: number },
): Item[][] {
  const groups: Item[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const added = sizeOf(item);
    if (size + added > max) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(item);
    size += added;
  }
  return groups;
}
