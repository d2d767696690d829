/** Checks the logs of the processes and of PostgreSQL. Only outages may cause errors. */
import { readFile } from "node:fs/promises";
import type { Outages } from "../outages.ts";
import type { Service } from "../service.ts";
import type { Tally } from "../tally.ts";

/** The time after an outage in which log lines are still attributed to it. No request takes longer to fail. */
const BACK_MS = 12_000;
const SHOWN = 300;
/** Matches log messages that no crash may cause. */
const DAMAGE = /PANIC|deadlock detected|invalid page|could not read block|corrupt|checksum/;

/** Returns error lines that no database outage explains. Tallies the lines of all levels. */
export function listUnexcused(services: readonly Service[], outages: Outages, tally: Tally): string[] {
  const lines = services.flatMap((service) => service.lines);
  for (const { level, message } of lines) tally.add(`log/${level}: ${message.slice(0, 80)}`);
  const grave = lines.filter(({ level }) => level === "error" || level === "fatal" || level === "stderr");
  const unexcused = grave.filter(({ at }) => !outages.cover("database", at - BACK_MS, at));
  return unexcused.map(({ service, text }) => `${service}: ${text}`);
}

/** Returns the lines of PostgreSQL's log that indicate damage. Counts ERROR lines by message. */
export async function listDamage(logPath: string, tally: Tally): Promise<string[]> {
  const lines = (await readFile(logPath, "utf8")).split("\n");
  for (const line of lines) {
    const [, message] = / ERROR: {2}(.*)/.exec(line) ?? [];
    if (message !== undefined) tally.add(`postgres/${message.replaceAll(/"[^"]*"|\d+/g, "…").slice(0, 80)}`);
  }
  return lines.filter((line) => DAMAGE.test(line)).map((line) => line.slice(0, SHOWN));
}
