/**
 * Notes in the audit log that a member was refused a write: by role, by subscription, or by the kind of credential.
 * Sampled: a member can repeat such a write any number of times. The log has a line for each of them.
 */
import type { Log } from "../../shared/process/log.ts";
import { withTimeout } from "../../shared/process/with_timeout.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { auditOrigin } from "./audit_actor.ts";
import { createRateLimiter } from "./rate_limit.ts";
import type { RequestContext } from "./request_context.ts";

/** Entries that one user's refusals add a minute, in each process. */
const MAX_PER_MINUTE = 60;
/** Of the same route and organization: the second says nothing new. */
const MAX_ALIKE_PER_MINUTE = 1;
/** Some 2 MB of counters. */
const MAX_KEYS = 10_000;
/** The caller waits for the entry, so that it stands when the refusal is answered; not for a database that is stuck. */
const INSERT_TIMEOUT_MS = 2_000;

/** Notes it where it is such a refusal. Never throws: a refusal that cannot be noted is one all the same. */
export type AuditDenial = (context: RequestContext) => Promise<void>;

export function createAuditDenial(deps: { sql: Sql; log: Log; now: () => number }): AuditDenial {
  const { sql, log, now } = deps;
  const alike = createRateLimiter({ limit: MAX_ALIKE_PER_MINUTE, maxKeys: MAX_KEYS, now });
  const users = createRateLimiter({ limit: MAX_PER_MINUTE, maxKeys: MAX_KEYS, now });

  return async (context) => {
    const { caller, error } = context;
    // A stranger learns nothing about the organization, and leaves no entry in its log.
    if (!caller || !error || !context.writes || error.code === "ORG_ACCESS_DENIED") return;
    if (error.status !== 402 && error.status !== 403) return;
    const { userId, credential } = caller;
    const boundTo = credential.type === "key" ? credential.orgId : null;
    const orgId = context.orgId ?? boundTo;
    const route = `${context.method} ${context.route}`;
    const kind = `${userId} ${orgId} ${error.code} ${route}`;
    // The user's budget first: otherwise a refusal that is not logged would use up its kind's slot for the whole window.
    if (!users.peek(userId).allowed || !alike.take(kind).allowed) return;
    users.take(userId);
    try {
      const noting = insertAuditEntry(sql, {
        actorType: "user",
        actorUserId: userId,
        credentialId: credential.id,
        ...auditOrigin(context),
        idempotencyKey: null,
        action: "request.refuse",
        subjectType: "route",
        subjectId: route,
        orgId,
        details: { code: error.code },
      });
      await withTimeout(noting, INSERT_TIMEOUT_MS);
    } catch (problem) {
      // The next one may be noted. The user's budget stays spent, so that a failing database is not asked without end.
      alike.giveBack(kind);
      log.warn({ requestId: context.requestId, err: problem }, "cannot note a refusal in the audit log");
    }
  };
}
