/** Measures on a noisy machine: tasks run in turn, and medians count. */
import type { Command } from "../../deploy/local/bootstrap.ts";
import type { FigureTable } from "./results.ts";

/** The figures of one execution of a task, by name. */
export type Reading = Readonly<Record<string, number>>;

/**
 * Runs the tasks in turn, `rounds` times after a warm-up; returns the medians of their figures by name. Reports
 * progress.
 */
export async function measureInTurn<Name extends string, Read extends Reading>(
  { command, signal }: BenchRun,
  title: string,
  given: { tasks: Readonly<Record<Name, () => Promise<Read>>>; rounds: number },
): Promise<Record<Name, Read>> {
  const { tasks, rounds } = given;
  const names = Object.keys(tasks) as Name[];
  const readings = new Map<Name, Read[]>(names.map((name) => [name, []]));
  await command.step(`Measuring ${title}`, async (note) => {
    for (let round = 0; round <= rounds; round += 1) {
      note(round === 0 ? "once to warm up" : `round ${round} of ${rounds}`);
      for (const name of names) {
        signal.throwIfAborted();
        const reading = await tasks[name]().catch((cause: unknown) => {
          throw new Error(`Cannot measure "${name}" of ${title}`, { cause });
        });
        if (round > 0) readings.get(name)?.push(reading);
      }
    }
  });
  return Object.fromEntries(
    names.map((name) => [name, medians(readings.get(name) ?? [])]),
    // By the names of `tasks`.
  ) as Record<Name, Read>;
}

/** Runs `work` and returns its duration and the increase of each meter; `work` may add figures. */
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
  // By the names of `meters`.
  return { ...added, ...(Object.fromEntries(rises) as Record<Meters, number>), seconds };
}

async function readMeters(meters: Readonly<Record<string, () => Promise<number>>>): Promise<Reading> {
  const names = Object.keys(meters);
  const values = await Promise.all(Object.values(meters).map((read) => read()));
  return Object.fromEntries(values.map((value, index) => [names[index], value]));
}

function medians<Read extends Reading>(readings: readonly Read[]): Read {
  const names = Object.keys(readings[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(readings.map((reading) => reading[name] ?? Number.NaN))]),
    // By the names of a reading.
  ) as Read;
}

/** The median; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
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
  /** Rounds of tasks that take seconds, after a warm-up. */
  rounds: number;
  /** Rounds of loads over HTTP, and the seconds of each. */
  loadRounds: number;
  loadSeconds: number;
  /** Sizes of the exported projects, ascending. */
  issues: readonly [small: number, middle: number, large: number];
  bundleIssues: number;
  /** The size of the largest organization that is built. */
  orgRows: number;
  orgProjects: number;
  /** The size of the registry; growth is shown from a tenth of it. */
  definitionLines: number;
  /** Numbers of projects and of their issues; growth is shown from a tenth of the projects. */
  projects: number;
  projectIssues: number;
}

/** All in 25 minutes on two cores: ratios do not depend on the largest sizes, growth is measured over a factor of ten. */
export const FULL_SIZES: BenchSizes = {
  rounds: 3,
  loadRounds: 5,
  loadSeconds: 0.6,
  issues: [20_000, 200_000, 500_000],
  bundleIssues: 30_000,
  orgRows: 500_000,
  orgProjects: 50,
  definitionLines: 10_000,
  projects: 50,
  projectIssues: 2000,
};

/** Tests in less than two minutes whether the benchmarks work; the figures mean nothing. */
export const QUICK_SIZES: BenchSizes = {
  rounds: 1,
  loadRounds: 1,
  loadSeconds: 0.2,
  issues: [500, 2000, 10_000],
  bundleIssues: 1000,
  orgRows: 10_000,
  orgProjects: 5,
  definitionLines: 300,
  projects: 10,
  projectIssues: 200,
};
