/** How often one may try to sign in: from one address, and to one account, whichever process the attempts reach. */
import type { Config } from "../../shared/config.ts";
import {
  deleteIdleLoginAttempts,
  findLoginWaitMs,
  insertLoginAttempt,
  type LoginSubject,
} from "../../sql/login_attempts.ts";
import type { Sql } from "../../sql/pool.ts";
import { rateLimited, rateLimitHeaders } from "../rate_limit.ts";
import type { RequestContext } from "../request_context.ts";

/** Idle rows that one attempt takes away: more than it can add. */
const CLEANUP_ROWS = 10;

/**
 * Counts an attempt, whatever comes of it. Throws `RATE_LIMITED`. Accounts that do not exist are counted alike, so that
 * the limit tells nothing; what the address may not try counts for no account.
 */
export async function takeLoginAttempt(
  deps: { sql: Sql; config: Config },
  context: RequestContext,
  email: string,
): Promise<void> {
  const subjects: readonly LoginSubject[] = [
    { kind: "address", value: context.network },
    { kind: "account", value: email },
  ];
  const limit = deps.config.rateLimitLoginPerMinute;
  await deleteIdleLoginAttempts(deps.sql, CLEANUP_ROWS);
  for (const subject of subjects) {
    if (await insertLoginAttempt(deps.sql, { subject, limit })) continue;
    const waitMs = await findLoginWaitMs(deps.sql, { subject, limit });
    const now = Date.now();
    const state = { limit, remaining: 0, resetAt: now + waitMs, allowed: false };
    // This limit's numbers, and not those of requests in general, say why the answer is 429.
    Object.assign(context.answerHeaders, rateLimitHeaders(state));
    throw rateLimited(state, now);
  }
}
