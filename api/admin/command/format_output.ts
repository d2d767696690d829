/** Formats command results as text. */

/** Formats facts as lines of a label and a value, with the values aligned. Omits facts that are null. */
export function fields(facts: Readonly<Record<string, string | number | null>>): string {
  const rows = Object.entries(facts).filter(([, value]) => value !== null);
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n");
}

/** Formats rows as a table with headings. Returns `empty` if there are no rows. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats `1234567` as `1,234,567`. */
export function withThousands(count: number): string {
  return count.toLocaleString("en-US");
}
