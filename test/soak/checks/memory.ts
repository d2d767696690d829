/** Measures the memory of the processes and checks whether it grows. */

import { residentBytes } from "../../bench/machine.ts";
import { formatTable } from "../../helpers/format_table.ts";
import type { Life, Service } from "../service.ts";

const MEBIBYTE = 2 ** 20;
const MINUTE_MS = 60_000;
/** The minimum length of a life whose growth is checked. The slope of a shorter life is meaningless. */
const JUDGED_MINUTES = 4;
/** The maximum growth in the second half of a life that still counts as noise, as a share of the mean. */
const MOST_GROWTH = 0.25;

/** Records the resident memory of each running process. */
export async function sampleMemory(services: readonly Service[]): Promise<void> {
  for (const { life } of services) {
    if (life.to !== null) continue;
    const bytes = await residentBytes(life.pid).catch(() => 0);
    // A process that has just exited has no memory to record.
    if (bytes > 0) life.memory.push({ at: performance.now(), bytes });
  }
}

interface Growth {
  life: Life;
  minutes: number;
  /** The mean memory in the second half of the life. */
  meanBytes: number;
  /** The maximum memory in the whole life. */
  peakBytes: number;
  /** The slope in the second half of the life, by least squares. */
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

/** Returns a table of the longest life of each process, and the processes whose memory grows. */
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
