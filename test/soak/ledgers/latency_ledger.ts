/** Records response times of honest clients, without and with abusers. */
import { formatTable } from "../../helpers/format_table.ts";

/** The phases of a hostile run. The response times of `calm` and `hostile` are compared. */
export type Phase = "warm-up" | "calm" | "hostile" | "over";
type Compared = "calm" | "hostile";

/** The maximum ratio of the 99th percentile with abusers to the one without. */
const MAX_RATIO = 3;
/** The minimum number of responses for a meaningful 99th percentile. */
const MIN_JUDGED = 300;

interface Row {
  kind: string;
  calm: readonly number[];
  hostile: readonly number[];
  /** The ratio of the 99th percentiles; NaN if one is missing. */
  ratio: number;
}

export class LatencyLedger {
  phase: Phase = "warm-up";
  /** Response times in milliseconds, by kind of client and phase. */
  readonly #times = new Map<string, Record<Compared, number[]>>();

  add(kind: string, ms: number): void {
    const { phase } = this;
    if (phase === "warm-up" || phase === "over") return;
    const times = this.#times.get(kind) ?? { calm: [], hostile: [] };
    times[phase].push(ms);
    this.#times.set(kind, times);
  }

  /** Returns the kinds of clients that abusers slow down too much. */
  listTroubles(): string[] {
    const compared = this.#rows().filter(
      ({ calm, hostile }) => Math.min(calm.length, hostile.length) >= MIN_JUDGED,
    );
    if (compared.length === 0) return ["too few answers to compare: let it run longer"];
    return compared
      .filter(({ ratio }) => ratio > MAX_RATIO)
      .map(
        ({ kind, calm, hostile, ratio }) =>
          `${kind}: 99 % of answers came within ${percentile(calm, 99).toFixed(0)} ms, and beside abusers within ` +
          `${percentile(hostile, 99).toFixed(0)} ms, ${ratio.toFixed(1)} times as long`,
      );
  }

  /** Formats the response times as a Markdown table. */
  format(): string {
    const header = [
      "honest clients",
      "answers",
      "p50 ms",
      "p99 ms",
      "with abusers",
      "p50 ms",
      "p99 ms",
      "p99 ×",
    ];
    const cells = (times: readonly number[]) => [
      times.length.toLocaleString("en"),
      ...[50, 99].map((rank) => percentile(times, rank).toFixed(1)),
    ];
    const rows = this.#rows().map(({ kind, calm, hostile, ratio }) => [
      kind,
      ...cells(calm),
      ...cells(hostile),
      ratio.toFixed(2),
    ]);
    return formatTable(header, rows);
  }

  /** Returns a row per kind of client, and one for all kinds together. */
  #rows(): Row[] {
    const kinds = [...this.#times].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = (phase: Compared) => kinds.flatMap(([, times]) => times[phase]);
    return [...kinds, ["all", { calm: all("calm"), hostile: all("hostile") }] as const].map(
      ([kind, { calm, hostile }]) => ({
        kind,
        calm,
        hostile,
        ratio: percentile(hostile, 99) / percentile(calm, 99),
      }),
    );
  }
}

/** Returns the percentile `rank` of the values; NaN without values. */
function percentile(values: readonly number[], rank: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * rank) / 100) - 1] ?? Number.NaN;
}
