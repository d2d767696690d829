/** Counts the outcomes of abusers' requests. */
import { formatTable } from "../../helpers/format_table.ts";

export class AbuseLedger {
  /**
   * Counts by kind of abuser and outcome. An outcome is a status, or a type of connection failure such as `refused`.
   */
  readonly #ends = new Map<string, Map<string, number>>();

  add(kind: string, end: string): void {
    const ends = this.#ends.get(kind) ?? new Map<string, number>();
    ends.set(end, (ends.get(end) ?? 0) + 1);
    this.#ends.set(kind, ends);
  }

  get requests(): number {
    return [...this.#ends.values()].reduce((sum, ends) => sum + total(ends), 0);
  }

  /** Returns the kinds in `expected` that sent no request or received no response. */
  listTroubles(expected: readonly string[]): string[] {
    const isAnswered = (kind: string) =>
      [...(this.#ends.get(kind)?.keys() ?? [])].some((end) => /^\d+$/.test(end));
    return expected.filter((kind) => !isAnswered(kind)).map((kind) => `${kind} was never answered`);
  }

  /** Formats the counts as a Markdown table. */
  format(): string {
    const rows = [...this.#ends].sort().map(([kind, ends]) => [
      kind,
      total(ends).toLocaleString("en"),
      [...ends]
        .sort()
        .map(([end, count]) => `${end}: ${count.toLocaleString("en")}`)
        .join(", "),
    ]);
    return formatTable(["abusers", "requests", "answers by status"], rows);
  }
}

function total(ends: ReadonlyMap<string, number>): number {
  return [...ends.values()].reduce((sum, count) => sum + count, 0);
}
