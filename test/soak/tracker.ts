/** The tracker that writes rows throughout the load. It deletes none. */
import { setTimeout as delay } from "node:timers/promises";
import type { Soak } from "./soak.ts";
import { writeTrackerRows } from "./tracker_rows.ts";

const WRITTEN_ISSUES = 5;
const PAUSE_MS = 500;

/** Writes to the exported projects until the load ends. A failed transaction does not stop it. */
export async function keepWriting({ db, world, tally, outages, findings, over }: Soak): Promise<void> {
  for (let turn = 0; !over.aborted; turn += 1) {
    const project = world.projects[turn % world.projects.length];
    if (!project) return;
    const from = performance.now();
    try {
      await writeTrackerRows(db.sql, project, WRITTEN_ISSUES);
      tally.add("tracker writes");
    } catch (error) {
      if (!outages.cover("database", from, performance.now()))
        findings.add("the tracker cannot write", `${error}`);
    }
    await delay(PAUSE_MS, undefined, { signal: over }).catch(() => {});
  }
}
