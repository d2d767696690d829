/** Resources shared by all sign-ins of a process: the limit, the queue for password hashing, and the audit of failures. */
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
  /** Returns the time in milliseconds since the epoch, for the limits. Defaults to `Date.now`. */
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
/** Subjects in the cache of recent audit entries, about 2 MB. */
const MAX_SAMPLED = 10_000;

/**
 * Creates the function that adds a failed sign-in to the audit log. `userId` is null if the account does not exist; the entered
 * email is not stored. Anyone can cause any number of failures. Each process therefore adds one entry per minute for each
 * account and network, or for each network without an account. The response does not wait for the entry, so its time does not
 * reveal whether the account exists.
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
/** About five seconds of waiting on two slow CPUs. */
const WAITING_MAX = 64;

/**
 * Verifies and hashes passwords, two at a time. Each takes 64 MiB and 0.1 s of CPU time, and anyone can request this work.
 * `isFirst` work (the account has signed in from this network before) has its own queue, which runs first, so that a flood of
 * guesses does not lock users out. Throws SERVICE_UNAVAILABLE if a queue is full.
 */
export class PasswordQueue {
  readonly #queue = new FairQueue({ max: RUNNING_MAX, maxPerCaller: RUNNING_MAX, maxWaiting: WAITING_MAX });

  /** Returns whether a password matches a hash. */
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
