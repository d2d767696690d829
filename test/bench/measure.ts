/** Measuring on a noisy machine: things to compare run in turn, and medians are told. */

/**
 * Runs each of the tasks in turn, `rounds` times after one that does not count; returns seconds by name. A task that
 * returns a number has measured its seconds itself.
 */
export async function measureInTurn<Name extends string>(
  tasks: Readonly<Record<Name, () => Promise<unknown>>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(tasks) as Name[];
  const seconds = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const begun = performance.now();
      const measured = await tasks[name]();
      const took = typeof measured === "number" ? measured : (performance.now() - begun) / 1000;
      if (round > 0) seconds.get(name)?.push(took);
    }
  }
  return Object.fromEntries(
    names.map((name) => [name, median(seconds.get(name) ?? [])]),
    // The names are those of `tasks`.
  ) as Record<Name, number>;
}

/** The middle of the values; the mean of the two middle ones where there is none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

/** A table in Markdown, with its columns aligned for a terminal; the first column is text, the others numbers. */
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
