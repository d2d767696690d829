/** Resources shared by all sign-ins of a process: their limit, the queue of password checks, and the audit of failures. */
import { LRUCache } from "lru-cache";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Log } from "../../../shared/process/log.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { auditOrigin } from "../../http/audit_actor.ts";
import { coarseNetworkOf } from "../../http/client_address.ts";
import { FairQueue } from "../../http/limits/fair_queue.ts";
import type { Metrics } from "../../http/metrics.ts";
import type { RequestContext } from "../../http/request_context.ts";
import { hashPassword, verifyPassword } from "../password_rules.ts";
import { createLoginLimit } from "./login_limit.ts";

export type SignInResources = ReturnType<typeof createSignInResources>;

export function createSignInResources(deps: {
  config: Config;
  sql: Sql;
  log: Log;
  metrics: Metrics;
  /** Milliseconds since the epoch, for the limits; the clock if omitted. */
  now?: () => number;
}) {
  const { now = Date.now } = deps;
  return {
    limit: createLoginLimit({ ...deps, now }),
    passwords: new PasswordQueue(),
    auditFailure: createAuditFailure(deps),
  };
}

const SAMPLE_MS = 60_000;
/** Some 2 MB. */
const MAX_SAMPLED = 10_000;

/**
 * Makes the function that adds a failed sign-in to the audit log. `userId` is null if there is no such account: what was typed
 * is not kept. Anyone can cause any number of failures, so each process adds one a minute per account and network, or per
 * network if there is no account. Nothing waits for it, so that the time of a response does not reveal whether there is one.
 */
function createAuditFailure({ sql, log }: { sql: Sql; log: Log }) {
  const sampled = new LRUCache<string, true>({ max: MAX_SAMPLED, ttl: SAMPLE_MS });
  return (context: RequestContext, userId: string | null): void => {
    const subject = `${userId ?? "unknown"} ${coarseNetworkOf(context.address, 64)}`;
    if (sampled.has(subject)) return;
    sampled.set(subject, true);
    insertAuditEntry(sql, {
      actorType: "anonymous",
      ...auditOrigin(context),
      idempotencyKey: null,
      action: "session.refuse",
      subject: { type: "user", id: userId ?? "unknown" },
    }).catch((error: unknown) => {
      sampled.delete(subject);
      log.warn({ requestId: context.requestId, err: error }, "cannot note a failed sign-in in the audit log");
    });
  };
}

const RUNNING_MAX = 2;
/** About five seconds of waiting on two slow processors. */
const WAITING_MAX = 64;

/**
 * Verifies and hashes passwords, two at a time: each takes 64 MiB and 0.1 s of a processor, and anyone can request it.
 * `isFirst` work (the account has signed in from this network before) has its own line, which goes first, so that a flood
 * of guesses does not lock users out. Throws SERVICE_UNAVAILABLE when a line is full.
 */
export class PasswordQueue {
  readonly #queue = new FairQueue({ max: RUNNING_MAX, maxPerCaller: RUNNING_MAX, maxWaiting: WAITING_MAX });

  /** Whether a password is the one that was hashed. */
  verify(password: string, passwordHash: string, { isFirst }: { isFirst: boolean }): Promise<boolean> {
    return this.#run(isFirst, () => verifyPassword(password, passwordHash));
  }

  /** Hashes a password for storage. */
  hash(password: string, { isFirst } = { isFirst: true }): Promise<string> {
    return this.#run(isFirst, () => hashPassword(password));
  }

  #run<Result>(isFirst: boolean, work: () => Promise<Result>): Promise<Result> {
    const message = TEXTS.SERVICE_UNAVAILABLE.signIns(WAITING_MAX);
    const refuse = () => new ApiError("SERVICE_UNAVAILABLE", { message });
    return this.#queue.run({ caller: isFirst ? "known" : "unknown", isFirst, refuse }, work);
  }
}
