/** What has happened so far, in numbers. */

export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, this.get(name) + by);
  }

  /** Keeps the largest of the values that it is given. */
  most(name: string, value: number): void {
    this.#counts.set(name, Math.max(this.get(name), Math.round(value)));
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Those whose name begins with `prefix`, without it, as `name count` by name. */
  list(prefix: string): string {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => `${name.slice(prefix.length)} ${count.toLocaleString("en")}`)
      .sort()
      .join(", ");
  }
}
