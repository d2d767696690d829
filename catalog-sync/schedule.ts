/** Syncs at start and then whenever the schedule says so, one at a time. */
import { Cron } from "croner";
import { syncAtStart } from "./first_catalog.ts";
import type { CatalogSource } from "./source.ts";
import { type SyncDeps, syncCatalog } from "./sync.ts";

export interface RunningSchedule {
  /** Takes no more turns, and settles when the run that is on has ended. */
  finish(): Promise<void>;
}

/** Begins. A run that fails is logged and recorded, and the next one comes in its time. */
export function startSchedule(
  deps: SyncDeps,
  { source, cron }: { source: CatalogSource; cron: string },
): RunningSchedule {
  let running: Promise<unknown> | null = null;
  const take = (run: () => Promise<unknown>): void => {
    // A run that is still on does the work of the turn that it lasts into.
    running ??= run()
      .catch((error: unknown) => deps.log.error({ err: error }, "cannot sync the catalogue"))
      .finally(() => {
        running = null;
      });
  };
  const schedule = new Cron(cron, { timezone: "UTC" }, () => take(() => syncCatalog(deps, { source })));
  take(() => syncAtStart(deps, source));
  deps.log.info({ source: source.label, cron, nextRun: schedule.nextRun()?.toISOString() }, "syncing");
  return {
    async finish() {
      schedule.stop();
      await running;
    },
  };
}
