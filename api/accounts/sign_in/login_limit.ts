/**
 * Limits sign-in attempts, across all processes: per address, per account and network, and more and more slowly per account
 * from networks that are new to it. Accounts that do not exist are counted alike, so a network without a
 * previous sign-in cannot tell them from others.
 */
import { LRUCache } from "lru-cache";
import type { Credential } from "../../../shared/policy.ts";
import type { Config } from "../../../shared/process/config.ts";
import {
  findLoginWaitMs,
  insertLoginAttempt,
  type LoginSubject,
} from "../../../sql/accounts/login_attempts.ts";
import {
  findDelayMs,
  insertDelayedAttempt,
  insertUndelayedAttempt,
} from "../../../sql/accounts/login_delays.ts";
import { existsSignInNetwork } from "../../../sql/accounts/sign_in_networks.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { deleteOldRows, OLD_ROWS } from "../../../sql/delete_old_rows.ts";
import { coarseNetworkOf, SITE_SHARE, siteOf } from "../../http/client_address.ts";
import type { Metrics } from "../../http/metrics.ts";
import { rateLimited } from "../../http/rate_counter.ts";
import type { RequestContext } from "../../http/request_context.ts";

/** Idle rows that one attempt deletes: more than it can add. */
const CLEANUP_ROWS = 10;
/** Some 2 MB. */
const MAX_REFUSED = 10_000;

interface LoginLimit {
  /**
   * Counts an attempt, whatever its outcome. Those of a signed-in user count for the session, so that guesses of strangers do
   * not keep them from their account. Throws `RATE_LIMITED`; then it counts for nothing that comes later. The network is known
   * if the account signed in from it within 30 days.
   */
  take(context: RequestContext, email: string, session?: Credential): Promise<{ isKnownNetwork: boolean }>;
  /** Counts an attempt of the network alone, such as the token of a link. Throws RATE_LIMITED. */
  takeOfNetwork(context: RequestContext): Promise<void>;
}

interface LoginLimitDeps {
  sql: Sql;
  config: Config;
  metrics: Pick<Metrics, "rateLimited">;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export function createLoginLimit({ sql, config, metrics, now }: LoginLimitDeps): LoginLimit {
  const subjectLimit = config.rateLimitLoginPerMinute;
  /** The period in which a subject is refused without querying the database. */
  const refused = new LRUCache<string, { from: number; until: number }>({ max: MAX_REFUSED });

  const limitOf = ({ kind }: LoginSubject) => (kind === "site" ? subjectLimit * SITE_SHARE : subjectLimit);

  function rejectAttempt(context: RequestContext, limit: number, resetAt: number): never {
    // This limit's numbers, and not those of requests in general, say why the response is 429.
    context.rateLimit = { policy: "sign_in", limit, remaining: 0, resetAt };
    metrics.rateLimited.inc({ kind: "sign_in" });
    throw rateLimited(context.rateLimit, now());
  }

  async function takeOf(context: RequestContext, subjects: readonly LoginSubject[]): Promise<void> {
    for (const subject of subjects) {
      const { from, until } = refused.get(keyOf(subject)) ?? { from: 0, until: 0 };
      // A clock that was set back would prolong the wait.
      if (from <= now() && now() < until) rejectAttempt(context, limitOf(subject), until);
    }
    await deleteOldRows(sql, { ...OLD_ROWS.loginAttempts, limit: CLEANUP_ROWS });
    for (const subject of subjects) {
      const limit = limitOf(subject);
      if (await insertLoginAttempt(sql, { subject, limit })) continue;
      const waitMs = await findLoginWaitMs(sql, { subject, limit });
      const from = now();
      refused.set(keyOf(subject), { from, until: from + waitMs });
      rejectAttempt(context, limit, from + waitMs);
    }
  }

  /** From a network that is new to the account. */
  async function takeSlowly(context: RequestContext, account: string): Promise<void> {
    const attempt = { account, network: coarseNetworkOf(context.address, 48), limit: subjectLimit };
    if (await insertUndelayedAttempt(sql, attempt)) return;
    if (await insertDelayedAttempt(sql, attempt)) return;
    // Not remembered here: after a password reset, the network is known and does not wait.
    rejectAttempt(context, subjectLimit, now() + (await findDelayMs(sql, attempt)));
  }

  return {
    takeOfNetwork: (context) =>
      takeOf(context, [{ kind: "address", value: context.network }, ...sitesOf(context)]),
    async take(context, email, session) {
      const network = coarseNetworkOf(context.address, 64);
      const counted = session ? `${session.type} ${session.id}` : email;
      const account: LoginSubject = { kind: "account", value: `${network} ${counted}` };
      await takeOf(context, [{ kind: "address", value: context.network }, account]);
      const isKnownNetwork = await existsSignInNetwork(sql, { email, network });
      // A user who is signed in, or has signed in from here, does not share a /48 with strangers.
      if (!isKnownNetwork && !session) await takeOf(context, sitesOf(context));
      if (!isKnownNetwork) await takeSlowly(context, counted);
      return { isKnownNetwork };
    },
  };
}

/** The /48 around the client's network; none for IPv4. */
function sitesOf({ address }: RequestContext): LoginSubject[] {
  const site = siteOf(address);
  return site === null ? [] : [{ kind: "site", value: site }];
}

function keyOf({ kind, value }: LoginSubject): string {
  return `${kind} ${value.toLowerCase()}`;
}
