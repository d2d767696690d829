/** The dependencies of a job runner's jobs. */
import type { ArtifactStore } from "../shared/artifacts/store.ts";
import type { OpenProcess } from "../sql/open_process.ts";
import type { Mailer } from "./mailer.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import type { StoreOwner } from "./store_owner.ts";

export interface RunnerDeps extends Omit<OpenProcess, "host" | "close"> {
  /** The store of finished organization exports. */
  store: ArtifactStore;
  owner: StoreOwner;
  mailer: Mailer;
  metrics: RunnerMetrics;
  /** Aborted when the process can no longer wait for builds, mail servers or webhook receivers. */
  shutdownSignal: AbortSignal;
}
