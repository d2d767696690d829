/**
 * Records a member's denied writes in the audit log: denied because of role, subscription or kind of credential. Entries are
 * sampled, because a member can repeat a denied write any number of times. The request log has a line for each write.
 */
import type { Log } from "../../../shared/process/log.ts";
import { withTimeout } from "../../../shared/process/with_timeout.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditOrigin } from "../audit_actor.ts";
import { RateCounter } from "../rate_counter.ts";
import type { RequestContext } from "../request_context.ts";
import { boundOrgOf } from "../resolve_org.ts";

/** Maximum entries per user and minute, in each process. */
const MAX_PER_MINUTE = 60;
/** Maximum entries per minute with the same user, organization, error code and route. */
const MAX_ALIKE_PER_MINUTE = 1;
/** Takes about 2 MB. */
const MAX_KEYS = 10_000;
/** The response waits for the entry, but not for a database that hangs. */
const INSERT_TIMEOUT_MS = 2_000;

/** Records the request if it is a denied write. Never throws, so the response does not depend on it. */
export type AuditDenial = (context: RequestContext) => Promise<void>;

export function createAuditDenial(deps: { sql: Sql; log: Log; now: () => number }): AuditDenial {
  const { sql, log, now } = deps;
  const alike = new RateCounter({ limit: MAX_ALIKE_PER_MINUTE, maxKeys: MAX_KEYS, now });
  const users = new RateCounter({ limit: MAX_PER_MINUTE, maxKeys: MAX_KEYS, now });
  /** Kinds of denial whose entry is being written. */
  const writing = new Set<string>();

  return async (context) => {
    const { caller, error } = context;
    // Callers who are not members leave no entry in the organization's log.
    if (!caller || !error || !context.writes || error.code === "ORG_ACCESS_DENIED") return;
    if (error.status !== 402 && error.status !== 403) return;
    const { userId, credential } = caller;
    const orgId = context.orgId ?? boundOrgOf(caller);
    const route = `${context.method} ${context.route}`;
    const kind = `${userId} ${orgId} ${error.code} ${route}`;
    // A failed insert counts for the user, which limits the load on a failing database, but not for its kind.
    if (writing.has(kind) || !alike.peek(kind).allowed || !users.take(userId).allowed) return;
    writing.add(kind);
    try {
      const noting = insertAuditEntry(sql, {
        actorType: "user",
        actorUserId: userId,
        credentialId: credential.id,
        ...auditOrigin(context),
        idempotencyKey: null,
        action: "request.refuse",
        subject: { type: "route", id: route },
        orgId,
        details: { code: error.code },
      });
      await withTimeout(noting, INSERT_TIMEOUT_MS);
      alike.take(kind);
    } catch (problem) {
      log.warn({ requestId: context.requestId, err: problem }, "cannot note a refusal in the audit log");
    } finally {
      writing.delete(kind);
    }
  };
}
