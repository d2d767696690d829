/** Collects the violations that a run finds. */

/** The number of violations of each kind to show; further ones are only counted. */
const SHOWN = 10;

export class Findings {
  readonly #byKind = new Map<string, { count: number; shown: string[] }>();

  /** Records a violation. `kind` is the heading that violations of the same kind share in the report. */
  add(kind: string, detail: string): void {
    const found = this.#byKind.get(kind) ?? { count: 0, shown: [] };
    found.count += 1;
    if (found.shown.length < SHOWN) found.shown.push(detail);
    this.#byKind.set(kind, found);
  }

  addAll(kind: string, details: readonly string[]): void {
    for (const detail of details) this.add(kind, detail);
  }

  get count(): number {
    return [...this.#byKind.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Formats the violations, with a paragraph per kind. */
  format(): string {
    const paragraphs = [...this.#byKind].map(([kind, { count, shown }]) => {
      const rest = count > shown.length ? [`  … and ${count - shown.length} more`] : [];
      return [`${kind}: ${count}`, ...shown.map((detail) => `  - ${detail}`), ...rest].join("\n");
    });
    return paragraphs.join("\n");
  }
}
