/** What the jobs of a runner work with. */
import type { ArtifactStore } from "../shared/artifacts/store.ts";
import type { Config } from "../shared/process/config.ts";
import type { OpenProcess } from "../sql/open_process.ts";
import type { Mailer } from "./mailer.ts";
import type { RunnerMetrics } from "./runner_metrics.ts";
import type { StoreOwner } from "./store_owner.ts";

type Opened = "sql" | "exportSql" | "replica" | "nodes" | "boss" | "log" | "tracing";

export interface RunnerDeps extends Pick<OpenProcess, Opened> {
  config: Config;
  /** Where finished organization exports are. */
  store: ArtifactStore;
  owner: StoreOwner;
  mailer: Mailer;
  metrics: RunnerMetrics;
  /** Aborted when the process can no longer wait for a build, a mail server or a receiver. */
  shutdownSignal: AbortSignal;
}
