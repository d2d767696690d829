/** Checks that the artifact store belongs to this database. Builds, deletions and mails depend on it. */
import { type ArtifactOwner, claimArtifactStore, readArtifactOwner } from "../shared/artifacts/owner.ts";
import { type ArtifactStore, storageError } from "../shared/artifacts/store.ts";
import type { Log } from "../shared/process/log.ts";
import { DeadlineExceeded, pause, withTimeout } from "../shared/process/with_timeout.ts";
import type { Sql } from "../sql/connection/pool.ts";
import { currentDatabase, ensureInstallation } from "../sql/database_copy.ts";
import { listArtifactOwners } from "../sql/exports/export_expiry.ts";
import { requireNewStore } from "../sql/monitoring/artifact_status.ts";
import { parseArtifactName } from "./artifact_key.ts";

/** How often a runner checks the owner of the store. */
const CHECK_INTERVAL_MS = 5000;
/** After this time the storage counts as unavailable. */
const CHECK_TIMEOUT_MS = 10_000;
/** The maximum number of export jobs to look up for a store without an owner. */
const SAMPLE = 1000;

/** The artifact store belongs to another database. */
export class ForeignStoreError extends Error {
  override readonly name = "ForeignStoreError";

  constructor() {
    super(
      "Cannot use the artifact storage: another database owns it; run `bun run admin artifacts adopt` to take it over",
    );
  }
}

export type StoreOwner = ReturnType<typeof openStoreOwner>;

/** Creates the ownership check. Reads nothing yet. */
export function openStoreOwner(deps: { sql: Sql; store: ArtifactStore; log: Log }) {
  let wasOurs: boolean | null = null;
  /** Reads the marker, or creates it if allowed, and logs changes. Throws errors of the store and the database. */
  const isOurs = async (): Promise<boolean> => {
    const installationId = await ensureInstallation(deps.sql);
    const owner = await withTimeout(findOwner(deps, installationId), CHECK_TIMEOUT_MS).catch(
      (error: unknown) => {
        throw error instanceof DeadlineExceeded ? storageError("its marker cannot be read", error) : error;
      },
    );
    const isOurs = owner?.installationId === installationId;
    if (isOurs !== wasOurs) announce(deps.log, { isOurs, installationId, owner });
    wasOurs = isOurs;
    return isOurs;
  };
  return {
    isOurs,
    /** Throws ForeignStoreError if the store belongs to another database. */
    async require(): Promise<void> {
      if (!(await isOurs())) throw new ForeignStoreError();
    },
  };
}

/**
 * Calls `onChange` at the start and on each change, until `signal` is aborted. `isOurs` is true if this database owns the
 * store. While the store is unavailable, the last result applies. Jobs check the owner again themselves.
 */
export async function followStoreOwner(
  { owner, log }: { owner: StoreOwner; log: Log },
  onChange: (isOurs: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<{ stopped: Promise<void> }> {
  let wasOurs: boolean | null = null;
  const check = async (): Promise<void> => {
    const isOurs = await owner.isOurs().catch((error: unknown) => {
      log.warn(
        { event: "artifact_store.unknown_owner", err: error },
        "cannot read who owns the artifact store",
      );
      return wasOurs ?? true;
    });
    if (isOurs !== wasOurs && !signal.aborted) await onChange(isOurs);
    wasOurs = isOurs;
  };
  await check();
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(CHECK_INTERVAL_MS, signal);
      if (!signal.aborted) await check();
    }
  };
  return { stopped: follow() };
}

/** Returns the owner in the marker. Creates the marker if no other database can own the store. */
async function findOwner(
  { sql, store }: { sql: Sql; store: ArtifactStore },
  installationId: string,
): Promise<ArtifactOwner | null> {
  const owner = await readArtifactOwner(store);
  if (owner || !(await isClaimable(sql, store))) return owner;
  const claim = { installationId, database: await currentDatabase(sql), since: new Date().toISOString() };
  await claimArtifactStore(store, claim);
  // The marker is read back: another process may have claimed the store first, or overwritten the claim in a bucket without
  // conditional writes.
  return readArtifactOwner(store);
}

/**
 * Returns whether a store without a marker can be claimed: if it is new, or if an older release has filled it for this
 * database. Throws ArtifactStorageError if the store is empty but should contain files.
 */
async function isClaimable(sql: Sql, store: ArtifactStore): Promise<boolean> {
  const ids = new Set<string>();
  for await (const { name } of store.list()) {
    const build = parseArtifactName(name);
    if (build) ids.add(build.id);
    if (ids.size === SAMPLE) break;
  }
  if (ids.size > 0) return (await listArtifactOwners(sql, [...ids])).length > 0;
  await requireNewStore(sql);
  return true;
}

function announce(
  log: Log,
  found: { isOurs: boolean; installationId: string; owner: ArtifactOwner | null },
): void {
  const { isOurs, ...fields } = found;
  if (isOurs) log.info({ event: "artifact_store.owned", ...fields }, "this database owns the artifact store");
  else {
    log.error(
      { event: "artifact_store.foreign", ...fields },
      "the artifact store belongs to another database: nothing is built, deleted or mailed until `bun run admin artifacts adopt`",
    );
  }
}
