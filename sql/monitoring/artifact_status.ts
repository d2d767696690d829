/** Checks whether this database owns the artifact store. If another database owns it, requests still work but builds wait. */
import type { Registry } from "prom-client";
import { readArtifactOwner } from "../../shared/artifacts/owner.ts";
import { type ArtifactStore, storageError } from "../../shared/artifacts/store.ts";
import { registerGauge, shareFor } from "../../shared/monitoring/measured_gauge.ts";
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import type { Sql } from "../connection/pool.ts";
import { ensureInstallation, isDatabaseCopy } from "../database_copy.ts";
import { existsKeptExport } from "../exports/export_expiry.ts";

/** How long a result is reused. */
const FRESH_MS = 5_000;
/** Timeout after which the database or storage counts as unreachable. */
const CHECK_TIMEOUT_MS = 2_000;
/** How long a probe waits for the artifact store. Many load balancers give up after one second. */
const PROBE_WAIT_MS = 300;
const LOST =
  "it is empty, although exports are kept: mount its volume, or run `bun run admin artifacts adopt` to begin with an empty one";

/** `unclaimed`: no job runner has used the store yet. */
type ArtifactStatus = "owned" | "unclaimed" | "owned-by-another" | "unreachable";

/**
 * The problem of the artifact store in the response of GET /health/ready; empty without a problem. It does not affect
 * readiness.
 */
export interface ArtifactProblem {
  artifacts?: "owned-by-another" | "unreachable";
}

/**
 * Registers the gauge of the artifact store, which is measured at each scrape. Returns a function that checks the store for a
 * probe. The function never throws, and returns the last known status if the storage does not respond in time.
 */
export function watchArtifactStore(deps: {
  sql: Sql;
  store: ArtifactStore;
  registry: Registry;
  log: Log;
}): () => Promise<ArtifactProblem> {
  const readStatus = shareFor(FRESH_MS, () =>
    withTimeout(findStatus(deps), CHECK_TIMEOUT_MS).catch((error: unknown) => {
      const event = "artifact_store.unknown_owner";
      deps.log.warn({ event, err: error }, "cannot read the owner of the artifact store");
      return "unreachable" as const;
    }),
  );
  registerGauge(deps.registry, {
    name: "artifact_store_owned",
    help: "1 while this database or no database owns the artifact store, 0 while another one does, NaN while it cannot be read",
    read: async () => {
      const status = await readStatus();
      return status === "unreachable" ? Number.NaN : Number(status !== "owned-by-another");
    },
  });
  let found: ArtifactStatus = "unclaimed";
  return async () => {
    const looking = readStatus().then((status) => {
      found = status;
    });
    await withTimeout(looking, PROBE_WAIT_MS).catch(() => {});
    return found === "owned-by-another" || found === "unreachable" ? { artifacts: found } : {};
  };
}

/**
 * Call for a store without an owner. Throws ArtifactStorageError if the database has exports whose files should be in the store.
 * The store's volume is then probably not mounted. Skips the check for a copy of a database, because its files are in the store of
 * the original.
 */
export async function requireNewStore(sql: Sql): Promise<void> {
  if (!(await isDatabaseCopy(sql)) && (await existsKeptExport(sql))) throw storageError(LOST);
}

async function findStatus({ sql, store }: { sql: Sql; store: ArtifactStore }): Promise<ArtifactStatus> {
  const installationId = await ensureInstallation(sql);
  const owner = await readArtifactOwner(store);
  if (!owner) {
    await requireNewStore(sql);
    return "unclaimed";
  }
  return owner.installationId === installationId ? "owned" : "owned-by-another";
}
