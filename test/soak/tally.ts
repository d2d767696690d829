/** Counters of what has happened so far. */

export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, this.get(name) + by);
  }

  /** Keeps the maximum of its values. */
  most(name: string, value: number): void {
    this.#counts.set(name, Math.max(this.get(name), Math.round(value)));
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Counters whose name starts with `prefix`, without it, as `name count`, by name. */
  list(prefix: string): string {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => `${name.slice(prefix.length)} ${count.toLocaleString("en")}`)
      .sort()
      .join(", ");
  }

  /** The `count` largest counters whose name starts with `prefix`, in the form of `list`. */
  top(prefix: string, count: number): string {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, value]) => `${name.slice(prefix.length)} ${value.toLocaleString("en")}`)
      .join(", ");
  }
}
