/** Seals new audit entries every few seconds. Several runners take turns. */
import type { Log } from "../shared/process/log.ts";
import { pause } from "../shared/process/with_timeout.ts";
import { findAuditChain, sealAuditLog } from "../sql/accounts/audit_chain.ts";
import type { Sql } from "../sql/connection/pool.ts";

const PAUSE_MS = 2_000;
/** Entries per transaction, which takes about 50 ms. */
const BATCH = 500;
/**
 * How often the head of the chain is logged. `audit verify --head` compares a logged head with the chain to find entries
 * missing at the end.
 */
const WITNESS_EVERY_MS = 60_000;

/** Seals new audit entries until `signal` is aborted. Retries while the database is unavailable. */
export async function keepAuditLogSealed(deps: { sql: Sql; log: Log }, signal: AbortSignal): Promise<void> {
  let witnessedAt = Number.NEGATIVE_INFINITY;
  let hasNews = false;
  while (!signal.aborted) {
    try {
      const sealed = await sealAuditLog(deps.sql, BATCH);
      hasNews ||= sealed > 0;
      if (hasNews && performance.now() - witnessedAt >= WITNESS_EVERY_MS) {
        const { sealedPosition: position, sealedHash: hash } = await findAuditChain(deps.sql);
        deps.log.info({ event: "audit.sealed", position, hash }, "sealed the audit log");
        witnessedAt = performance.now();
        hasNews = false;
      }
      if (sealed === BATCH) continue;
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot seal the audit log");
    }
    await pause(PAUSE_MS, signal);
  }
}
