/** Notes failed sign-ins in the audit log, sampled: anybody can make any number of them. */
import { LRUCache } from "lru-cache";
import type { Log } from "../../shared/process/log.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { auditOrigin } from "../http/audit_actor.ts";
import { coarseNetworkOf } from "../http/request_address.ts";
import type { RequestContext } from "../http/request_context.ts";

const SAMPLE_MS = 60_000;
/** Some 2 MB. */
const MAX_SAMPLED = 10_000;

/** `userId` is `null` where there is no such account: what was typed is not kept. */
export type AuditFailure = (context: RequestContext, userId: string | null) => void;

/**
 * Each process notes one failure a minute per account and network, and where there is no account per network. It does not
 * wait for it, so that the time of a response does not tell whether there is an account.
 */
export function createAuditFailure({ sql, log }: { sql: Sql; log: Log }): AuditFailure {
  const sampled = new LRUCache<string, true>({ max: MAX_SAMPLED, ttl: SAMPLE_MS });
  return (context, userId) => {
    const subject = `${userId ?? "unknown"} ${coarseNetworkOf(context.address, 64)}`;
    if (sampled.has(subject)) return;
    sampled.set(subject, true);
    insertAuditEntry(sql, {
      actorType: "anonymous",
      ...auditOrigin(context),
      idempotencyKey: null,
      action: "session.refuse",
      subjectType: "user",
      subjectId: userId ?? "unknown",
    }).catch((error: unknown) => {
      sampled.delete(subject);
      log.warn({ requestId: context.requestId, err: error }, "cannot note a failed sign-in in the audit log");
    });
  };
}
