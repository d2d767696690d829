/** The options of `bun run soak`. */
import { parseArgs } from "node:util";

export const USAGE = `Usage: bun run soak [options]

Loads real processes, kills them in turn, and checks what clients were told.

  --minutes 10        how long the load lasts
  --clients 200       how many clients there are
  --seed 1            repeats the choices of another run
  --interval SECONDS  mean time between faults
  --no-faults         leaves processes alone
  --hostile           adds abusers in the second half
  --abusers KIND,…    adds only these kinds
  --help              this text
`;
const MINUTE_SECONDS = 60;
/** The number of faults to aim for in a run that is too short for the usual interval. */
const LEAST_FAULTS = 12;
const USUAL_INTERVAL_SECONDS = 25;
const LEAST_INTERVAL_SECONDS = 3;

export interface SoakOptions {
  /** The duration of the load in minutes, excluding seeding and checks. */
  minutes: number;
  clients: number;
  /** The same seed makes the same choices, but not the same timing. */
  seed: number;
  /** The mean time between faults. */
  intervalSeconds: number;
  /** True if processes are killed. */
  hasFaults: boolean;
  /** True if abusers join the clients in the second half. */
  isHostile: boolean;
  /** The kinds of abusers to run, for example to find the one that slows clients down; all if empty. */
  abusers: readonly string[];
}

/** Parses the arguments; returns null if they are invalid. */
export function parseOptions(args: readonly string[]): SoakOptions | null {
  const given = readArguments(args);
  if (!given) return null;
  const [minutes, clients, seed] = [given.minutes, given.clients, given.seed].map(Number) as [
    number,
    number,
    number,
  ];
  const shortened = (minutes * MINUTE_SECONDS) / LEAST_FAULTS;
  const usual = Math.max(Math.min(shortened, USUAL_INTERVAL_SECONDS), LEAST_INTERVAL_SECONDS);
  const intervalSeconds = given.interval === undefined ? usual : Number(given.interval);
  const isSound =
    minutes > 0 && intervalSeconds > 0 && Number.isInteger(clients) && clients >= 1 && Number.isInteger(seed);
  const [hasFaults, isHostile] = [!given["no-faults"], given.hostile || given.abusers !== undefined];
  const abusers = given.abusers?.split(",") ?? [];
  return isSound ? { minutes, clients, seed, intervalSeconds, hasFaults, isHostile, abusers } : null;
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: "string", default: "10" },
        clients: { type: "string", default: "200" },
        seed: { type: "string", default: "1" },
        interval: { type: "string" },
        "no-faults": { type: "boolean", default: false },
        hostile: { type: "boolean", default: false },
        abusers: { type: "string" },
      },
    });
    return values;
  } catch {
    return null;
  }
}
