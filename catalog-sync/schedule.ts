/** Syncs at the start and then on a schedule, one sync at a time. */
import { Cron } from "croner";
import { syncAtStart } from "./first_catalog.ts";
import type { CatalogSource } from "./source.ts";
import { type SyncDeps, syncCatalog } from "./sync.ts";

export interface RunningSchedule {
  /** Stops the schedule. Resolves when the running sync has ended. */
  finish(): Promise<void>;
}

/** Starts the schedule. A failed sync is logged and recorded, and the next sync runs as scheduled. */
export function startSchedule(
  deps: SyncDeps,
  { source, cron }: { source: CatalogSource; cron: string },
): RunningSchedule {
  let running: Promise<unknown> | null = null;
  const start = (run: () => Promise<unknown>): void => {
    // A scheduled sync is skipped while another sync is running.
    running ??= run()
      .catch((error: unknown) => deps.log.error({ err: error }, "cannot sync the model catalog"))
      .finally(() => {
        running = null;
      });
  };
  const schedule = new Cron(cron, { timezone: "UTC" }, () => start(() => syncCatalog(deps, { source })));
  start(() => syncAtStart(deps, source));
  deps.log.info({ source: source.label, cron, nextRun: schedule.nextRun()?.toISOString() }, "syncing");
  return {
    async finish() {
      schedule.stop();
      await running;
    },
  };
}
