/** The progress line that is printed every few seconds. */
import type { Outages } from "./outages.ts";
import type { Soak } from "./soak.ts";

/**
 * Formats the progress line. An example:
 * `02:30 | 14,210 requests | 912 exports | 80 jobs | errors: 503 41 | PostgreSQL killed 4 s ago, back in 1.2 s`
 */
export function statusLine(
  { options, tally, findings, outages, latencies, abuse }: Soak,
  startedAt: number,
): string {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const clock = `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  const count = (name: string) => `${tally.get(name).toLocaleString("en")} ${name}`;
  return [
    clock,
    count("requests"),
    count("exports"),
    count("jobs"),
    ...(options.isHostile ? [`${latencies.phase}, ${abuse.requests.toLocaleString("en")} abuses`] : []),
    `errors: ${tally.list("error/") || "none"}`,
    ...(findings.count > 0 ? [`${findings.count} VIOLATIONS`] : []),
    describeLast(outages),
  ].join(" | ");
}

function describeLast({ list }: Outages): string {
  const last = list.at(-1);
  if (!last) return "no fault yet";
  if (last.to === null) return `${last.fault}, not back`;
  return `${last.fault} ${Math.round((performance.now() - last.from) / 1000)} s ago, back in ${((last.to - last.from) / 1000).toFixed(1)} s`;
}
