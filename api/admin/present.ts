/** How the command line shows a result to a person. */

/** Lines of `label  value`, the values under each other. */
export function fields(rows: readonly (readonly [label: string, value: string | number])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n");
}

/** `1234567` → `1,234,567`. */
export function withThousands(count: number): string {
  return count.toLocaleString("en-US");
}
