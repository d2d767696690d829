/** Prints the report of a run. */
import type { Soak } from "./soak.ts";

const SLOWEST = 8;
/** The counters in the first line of the report. */
const COUNTED = [
  ...["requests", "exports", "slow reads", "disconnects", "jobs", "downloads", "executions", "publications"],
  ...["sign-ins", "keys", "syncs", "failed syncs", "tracker writes", "told to wait"],
];

/** Prints the report. `memory` is the table of `reportMemory`. */
export function report({ tally, findings, options, latencies, abuse }: Soak, memory: string): void {
  const sections = [
    COUNTED.map((name) => `${tally.get(name).toLocaleString("en")} ${name}`).join(", "),
    `Requests by their end: ${tally.list("end/")}`,
    `Slowest answers in ms: ${tally.top("slowest/", SLOWEST)}`,
    `Longest steps of clients in ms: ${tally.top("step/", SLOWEST)}; the soak itself was held up for ${tally.get("held up").toLocaleString("en")}`,
    `Faults: ${tally.list("fault/") || "none"}`,
    `Logged: ${tally.list("log/") || "nothing"}`,
    `Logged by PostgreSQL as ERROR: ${tally.list("postgres/") || "nothing"}`,
    memory,
    ...(options.isHostile ? [latencies.format(), abuse.format()] : []),
    findings.count === 0
      ? `Nothing was lost, doubled, leaked or wrong${options.isHostile ? ", and abusers kept nobody waiting" : ""} (seed ${options.seed})`
      : `${findings.count} ${findings.count === 1 ? "violation" : "violations"} (seed ${options.seed})\n\n${findings.format()}`,
  ];
  process.stdout.write(`\n${sections.join("\n\n")}\n`);
}
