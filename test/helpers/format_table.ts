/** Tables of what benchmarks and soaks measured, for people. */

/** Returns a Markdown table with columns aligned for a terminal; the first column is text, the others are numbers. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(header), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}
