/** Everything that was found to be wrong. */

/** The number of examples of each kind; others are only counted. */
const SHOWN = 10;

export class Findings {
  readonly #byKind = new Map<string, { count: number; shown: string[] }>();

  /** Records a violation; `kind` is the text that all of its kind share. */
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

  /** A paragraph per kind, for people. */
  format(): string {
    const paragraphs = [...this.#byKind].map(([kind, { count, shown }]) => {
      const rest = count > shown.length ? [`  … and ${count - shown.length} more`] : [];
      return [`${kind}: ${count}`, ...shown.map((detail) => `  - ${detail}`), ...rest].join("\n");
    });
    return paragraphs.join("\n");
  }
}
