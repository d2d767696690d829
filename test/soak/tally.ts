/** Counts events of a run by name. */

export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, this.get(name) + by);
  }

  /** Keeps the maximum of the values with this name. */
  most(name: string, value: number): void {
    this.#counts.set(name, Math.max(this.get(name), Math.round(value)));
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /**
   * Lists the counters whose names start with `prefix`, sorted by name. Each is shown as `name count`, without the
   * prefix.
   */
  list(prefix: string): string {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => `${name.slice(prefix.length)} ${count.toLocaleString("en")}`)
      .sort()
      .join(", ");
  }

  /** Lists the `count` largest counters whose names start with `prefix`, in the format of `list`. */
  top(prefix: string, count: number): string {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, value]) => `${name.slice(prefix.length)} ${value.toLocaleString("en")}`)
      .join(", ");
  }
}
