/** Measuring on a noisy machine: things to compare run in turn, and the median counts. */
import type { Command } from "../../deploy/local/bootstrap.ts";
import type { FigureTable } from "./results.ts";

/** What one execution of a task came to, by the name of the figure. */
export type Reading = Readonly<Record<string, number>>;

/**
 * Runs each of the tasks in turn, `rounds` times after one that does not count; returns the medians of what they read,
 * by name. Says how far it is.
 */
export async function measureInTurn<Name extends string, Read extends Reading>(
  { command, signal }: BenchRun,
  title: string,
  given: { tasks: Readonly<Record<Name, () => Promise<Read>>>; rounds: number },
): Promise<Record<Name, Read>> {
  const { tasks, rounds } = given;
  const names = Object.keys(tasks) as Name[];
  const readings = new Map<Name, Read[]>(names.map((name) => [name, []]));
  await command.progress.step(`Measuring ${title}`, async (note) => {
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
    // The names are those of `tasks`.
  ) as Record<Name, Read>;
}

/** Runs `work` and reads how long it took, and by how much each of the meters rose; `work` may add to that. */
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
  // The names are those of `meters`.
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
    // The names are those of a reading.
  ) as Read;
}

/** The middle of the values; the mean of the two middle ones where there is none. */
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
  /** Aborted when somebody asked to stop, or the run takes too long. */
  signal: AbortSignal;
}

export type Bench = (run: BenchRun) => Promise<FigureTable[]>;

export interface BenchSizes {
  /** Of what takes seconds, after one that does not count. */
  rounds: number;
  /** Of loads over HTTP, each so many seconds long. */
  loadRounds: number;
  loadSeconds: number;
  /** Of the projects whose datasets are exported, each larger than the one before. */
  issues: readonly [small: number, middle: number, large: number];
  bundleIssues: number;
  /** Of the largest organization that is built. */
  orgRows: number;
  orgProjects: number;
  /** Of the registry that is read; growth is shown from a tenth of them. */
  definitionLines: number;
  /** Growth is shown from a tenth of them, of so many issues each. */
  projects: number;
  projectIssues: number;
}

export const FULL_SIZES: BenchSizes = {
  rounds: 3,
  loadRounds: 5,
  loadSeconds: 1,
  issues: [20_000, 200_000, 1_000_000],
  bundleIssues: 60_000,
  orgRows: 1_000_000,
  orgProjects: 50,
  definitionLines: 10_000,
  projects: 100,
  projectIssues: 2000,
};

/** Shows in less than two minutes whether the benchmarks themselves work; the figures mean nothing. */
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
