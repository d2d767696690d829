/** What the jobs of a runner work with. */
import type { ArtifactStore } from "../shared/artifacts/store.ts";
import type { OpenProcess } from "../sql/open_process.ts";
import type { Mailer } from "./mailer.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import type { StoreOwner } from "./store_owner.ts";

export interface RunnerDeps extends Omit<OpenProcess, "host" | "close"> {
  /** Where finished organization exports are. */
  store: ArtifactStore;
  owner: StoreOwner;
  mailer: Mailer;
  metrics: RunnerMetrics;
  /** Aborted when the process can no longer wait for a build, a mail server or a receiver. */
  shutdownSignal: AbortSignal;
}
