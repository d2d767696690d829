/** Divides work into groups of bounded size. */

/** Maximum characters of text per statement. Sending them blocks the event loop for a millisecond or two. */
export const MAX_CHARACTERS_AT_ONCE = 262_144;

/** Groups adjacent items so that each group's total size is at most `max`. A larger item gets a group of its own. */
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
