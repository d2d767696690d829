/** How much memory the processes hold, and whether it grows. */

import { residentBytes } from "../../bench/machine.ts";
import { formatTable } from "../../helpers/format_table.ts";
import type { Life, Service } from "../service.ts";

const MEBIBYTE = 2 ** 20;
const MINUTE_MS = 60_000;
/** What lived shorter has not come to rest: its slope says nothing. */
const JUDGED_MINUTES = 4;
/** Over the second half of its life, as a part of what it held in the middle: more is no noise. */
const MOST_GROWTH = 0.25;

/** Notes what each process holds now. */
export async function sampleMemory(services: readonly Service[]): Promise<void> {
  for (const { life } of services) {
    if (life.to !== null) continue;
    const bytes = await residentBytes(life.pid).catch(() => 0);
    // One that has just ended holds nothing.
    if (bytes > 0) life.memory.push({ at: performance.now(), bytes });
  }
}

interface Growth {
  life: Life;
  minutes: number;
  /** Mean of the second half, and the most of all. */
  meanBytes: number;
  peakBytes: number;
  /** By least squares over the second half of its life. */
  bytesAMinute: number;
}

function measure(life: Life): Growth {
  const { memory } = life;
  const half = memory.slice(Math.floor(memory.length / 2));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, bytes] = [mean(half.map((sample) => sample.at)), mean(half.map((sample) => sample.bytes))];
  const spread = half.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  const common = half.reduce((sum, sample) => sum + (sample.at - at) * (sample.bytes - bytes), 0);
  return {
    life,
    minutes: ((memory.at(-1)?.at ?? 0) - (memory[0]?.at ?? 0)) / MINUTE_MS,
    meanBytes: bytes,
    peakBytes: Math.max(...memory.map((sample) => sample.bytes)),
    bytesAMinute: spread === 0 ? 0 : (common / spread) * MINUTE_MS,
  };
}

/** The longest life of each process, and those whose memory grows. */
export function reportMemory(lives: readonly Life[]): { table: string; growing: string[] } {
  const byService = Map.groupBy(
    lives.filter(({ memory }) => memory.length > 3).map(measure),
    ({ life }) => life.service,
  );
  const longest = [...byService.values()].map((growths) =>
    growths.reduce((best, growth) => (growth.minutes > best.minutes ? growth : best)),
  );
  const growing = longest.filter(
    ({ minutes, bytesAMinute, meanBytes }) =>
      minutes >= JUDGED_MINUTES && (bytesAMinute * minutes) / 2 > MOST_GROWTH * meanBytes,
  );
  const mebibytes = (bytes: number) => (bytes / MEBIBYTE).toFixed(1);
  const rows = longest.map(({ life, minutes, meanBytes, peakBytes, bytesAMinute }) => [
    life.service,
    ...[minutes.toFixed(1), mebibytes(meanBytes), mebibytes(peakBytes), mebibytes(bytesAMinute)],
  ]);
  return {
    table: formatTable(["longest life of", "minutes", "mean MiB", "peak MiB", "MiB a minute"], rows),
    growing: growing.map(
      ({ life, bytesAMinute, minutes }) =>
        `${life.service} grows by ${mebibytes(bytesAMinute)} MiB a minute, in a life of ${minutes.toFixed(1)}`,
    ),
  };
}
