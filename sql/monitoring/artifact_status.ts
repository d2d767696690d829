/** Who owns the artifact store. If it is another database, requests still work but builds wait. */
import type { Registry } from "prom-client";
import { readArtifactOwner } from "../../shared/artifacts/owner.ts";
import type { ArtifactStore } from "../../shared/artifacts/store.ts";
import { registerGauge, shareFor } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import type { Sql } from "../connection/pool.ts";
import { ensureInstallation } from "../installation.ts";

/** How long a result is reused. */
const FRESH_MS = 5_000;
/** A database or storage that takes longer counts as unreachable. */
const CHECK_TIMEOUT_MS = 2_000;
/** How long a probe waits for the artifact store. Many load balancers give up after one second. */
const PROBE_WAIT_MS = 300;

/** `unclaimed`: no job runner has used the store yet. */
export type ArtifactStatus = "owned" | "unclaimed" | "owned-by-another" | "unreachable";

/** Creates the check, which never throws. */
export function createArtifactStatus(deps: {
  sql: Sql;
  store: ArtifactStore;
  log: Log;
}): () => Promise<ArtifactStatus> {
  const { sql, store, log } = deps;
  const readStatus = async (): Promise<ArtifactStatus> => {
    const installationId = await ensureInstallation(sql);
    const owner = await readArtifactOwner(store);
    if (!owner) return "unclaimed";
    return owner.installationId === installationId ? "owned" : "owned-by-another";
  };
  return shareFor(FRESH_MS, () =>
    withTimeout(readStatus(), CHECK_TIMEOUT_MS).catch((error: unknown) => {
      log.warn(
        { event: "artifact_store.unknown_owner", err: error },
        "cannot read the owner of the artifact store",
      );
      return "unreachable" as const;
    }),
  );
}

/** What GET /health/ready says about the artifact store; empty if it has no problem. It does not affect readiness. */
export interface ArtifactProblem {
  artifacts?: "owned-by-another" | "unreachable";
}

/** Creates the check of a probe. It returns the last known status if the storage does not answer in time. */
export function createArtifactProblemCheck(
  artifactStatus: () => Promise<ArtifactStatus>,
): () => Promise<ArtifactProblem> {
  let found: ArtifactStatus = "unclaimed";
  return async () => {
    const looking = artifactStatus().then((status) => {
      found = status;
    });
    await withTimeout(looking, PROBE_WAIT_MS).catch(() => {});
    return found === "owned-by-another" || found === "unreachable" ? { artifacts: found } : {};
  };
}

/** Registers the gauge. The store is checked at each scrape. */
export function registerArtifactMetrics(registry: Registry, status: () => Promise<ArtifactStatus>): void {
  registerGauge(registry, {
    name: "artifact_store_owned",
    help: "1 while this database or no database owns the artifact store, 0 while another one does, NaN while it cannot be read",
    read: async () => {
      const found = await status();
      return found === "unreachable" ? Number.NaN : Number(found !== "owned-by-another");
    },
  });
}
