/** Measures tasks on a noisy machine: runs them in turn and takes medians. */
import type { Command } from "../../deploy/local/bootstrap.ts";
import type { FigureTable } from "./results.ts";

/** The measurements of one execution of a task, by name. */
export type Reading = Readonly<Record<string, number>>;

/** A task that gets the number of the round. Round 0 is a warm-up and does not count. */
export type Task<Read extends Reading> = (round: number) => Promise<Read>;

interface Tasks<Name extends string, Read extends Reading> {
  tasks: Readonly<Record<Name, Task<Read>>>;
  rounds: number;
}

/** Runs the tasks in turn, as `readInTurn` does, and returns the medians of each task's measurements. */
export async function measureInTurn<Name extends string, Read extends Reading>(
  run: BenchRun,
  title: string,
  given: Tasks<Name, Read>,
): Promise<Record<Name, Read>> {
  const readings = await readInTurn(run, title, given);
  return mapValues(readings, medians);
}

/**
 * Runs the tasks in turn, `rounds` times after a warm-up, and returns the readings of each task by round. Every other
 * round is in reverse order, so a machine that slows down favors no task. Reports progress.
 */
export async function readInTurn<Name extends string, Read extends Reading>(
  { command, signal }: BenchRun,
  title: string,
  { tasks, rounds }: Tasks<Name, Read>,
): Promise<Record<Name, Read[]>> {
  const names = Object.keys(tasks) as Name[];
  const orders = [names.toReversed(), names];
  const readings = mapValues<Name, Task<Read>, Read[]>(tasks, () => []);
  const perform = (name: Name, round: number): Promise<Read> =>
    tasks[name](round).catch((cause: unknown) => {
      throw new Error(`Cannot measure "${name}" of ${title}`, { cause });
    });
  await command.step(`Measuring ${title}`, async (note) => {
    for (let round = 0; round <= rounds; round += 1) {
      note(round === 0 ? "once to warm up" : `round ${round} of ${rounds}`);
      for (const name of orders[round % 2] ?? names) {
        signal.throwIfAborted();
        const reading = await perform(name, round);
        if (round > 0) readings[name].push(reading);
      }
    }
  });
  return readings;
}

/** Maps the values of a record. */
export function mapValues<Name extends string, From, To>(
  values: Readonly<Record<Name, From>>,
  map: (value: From) => To,
): Record<Name, To> {
  const entries = Object.entries<From>(values).map(([name, value]) => [name, map(value)]);
  // The keys are those of `values`.
  return Object.fromEntries(entries) as Record<Name, To>;
}

/** Runs `work`. Returns its result, its duration in seconds, and the increase of each meter. */
export async function metered<Meters extends string, Added extends Reading>(
  meters: Readonly<Record<Meters, () => Promise<number>>>,
  work: () => Promise<Added>,
): Promise<Added & Record<Meters | "seconds", number>> {
  const before = await readMeters(meters);
  const begun = performance.now();
  const added = await work();
  const seconds = (performance.now() - begun) / 1000;
  const after = await readMeters(meters);
  const rises = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  // The keys are those of `meters`.
  return { ...added, ...(Object.fromEntries(rises) as Record<Meters, number>), seconds };
}

async function readMeters(meters: Readonly<Record<string, () => Promise<number>>>): Promise<Reading> {
  const names = Object.keys(meters);
  const values = await Promise.all(Object.values(meters).map((read) => read()));
  return Object.fromEntries(values.map((value, index) => [names[index], value]));
}

/** Returns the median of each measurement. */
export function medians<Read extends Reading>(readings: readonly Read[]): Read {
  const names = Object.keys(readings[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(readings.map((reading) => reading[name] ?? Number.NaN))]),
    // The keys are those of a reading.
  ) as Read;
}

/** Returns the median. For an even number of values, it is the mean of the middle two. */
export function median(values: readonly number[]): number {
  return quantile(values, 1 / 2);
}

/** Returns the quantile for `share`, interpolated linearly between two values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = sorted.slice(Math.floor(place));
  return low + (high - low) * (place - Math.floor(place));
}

export interface BenchRun {
  command: Command;
  serverUrl: string;
  sizes: BenchSizes;
  /** Aborted on a request to stop, or after the time limit. */
  signal: AbortSignal;
}

export type Bench = (run: BenchRun) => Promise<FigureTable[]>;

export interface BenchSizes {
  /** The number of rounds after the warm-up, for tasks that take seconds. */
  rounds: number;
  /** The number of rounds of HTTP loads. */
  loadRounds: number;
  /** The duration of an HTTP load. */
  loadSeconds: number;
  /** The number of rounds of loads that compare two servers. */
  comparedRounds: number;
  /** The duration of a load that compares two servers. */
  comparedSeconds: number;
  /** The duration of the warm-up load before two servers are compared. */
  warmUpSeconds: number;
  /** The numbers of issues in the exported projects, ascending. */
  issues: readonly [small: number, middle: number, large: number];
  bundleIssues: number;
  /** The number of rows in the largest exported organization. */
  orgRows: number;
  orgProjects: number;
  /** The number of definition lines in the registry. Growth is measured from a tenth of it. */
  definitionLines: number;
  /** The number of projects. Growth is measured from a tenth of it. */
  projects: number;
  /** The number of issues per project. */
  projectIssues: number;
}

/**
 * Sizes with which all benchmarks take 25 minutes on two cores. Larger sizes would not change the ratios. Growth is
 * measured over a factor of ten.
 */
export const FULL_SIZES: BenchSizes = {
  rounds: 3,
  loadRounds: 5,
  loadSeconds: 0.6,
  comparedRounds: 10,
  comparedSeconds: 0.3,
  warmUpSeconds: 3,
  issues: [20_000, 200_000, 500_000],
  bundleIssues: 30_000,
  orgRows: 500_000,
  orgProjects: 50,
  definitionLines: 10_000,
  projects: 50,
  projectIssues: 2000,
};

/** Sizes that test the benchmarks in less than two minutes. The results are meaningless. */
export const QUICK_SIZES: BenchSizes = {
  rounds: 1,
  loadRounds: 1,
  loadSeconds: 0.2,
  comparedRounds: 1,
  comparedSeconds: 0.2,
  warmUpSeconds: 0.2,
  issues: [500, 2000, 10_000],
  bundleIssues: 1000,
  orgRows: 10_000,
  orgProjects: 5,
  definitionLines: 300,
  projects: 10,
  projectIssues: 200,
};
