/**
 * Limits sign-in attempts across all processes: per address, and per account and network. Attempts on an account from new
 * networks are delayed more and more. Attempts on nonexistent accounts count alike, so a network without a previous sign-in
 * cannot tell whether an account exists.
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

/** Idle rows that each attempt deletes. An attempt adds fewer. */
const CLEANUP_ROWS = 10;
/** Refused subjects in the cache, about 2 MB. */
const MAX_REFUSED = 10_000;

interface LoginLimit {
  /**
   * Counts an attempt, whatever its outcome. A signed-in user's attempts count per session, so that guesses by strangers do not
   * lock the user out. Throws RATE_LIMITED at the first exceeded limit, without counting the attempt toward later limits. The
   * network is known if the account signed in from it within 30 days.
   */
  take(context: RequestContext, email: string, session?: Credential): Promise<{ isKnownNetwork: boolean }>;
  /** Counts an attempt per network only, for example one with a link's token. Throws RATE_LIMITED. */
  takeOfNetwork(context: RequestContext): Promise<void>;
}

interface LoginLimitDeps {
  sql: Sql;
  config: Config;
  metrics: Pick<Metrics, "rateLimited">;
  /** Returns the time in milliseconds since the epoch. */
  now: () => number;
}

export function createLoginLimit({ sql, config, metrics, now }: LoginLimitDeps): LoginLimit {
  const subjectLimit = config.rateLimitLoginPerMinute;
  /** Periods in which subjects are refused without a database query. */
  const refused = new LRUCache<string, { from: number; until: number }>({ max: MAX_REFUSED });

  const limitOf = ({ kind }: LoginSubject) => (kind === "site" ? subjectLimit * SITE_SHARE : subjectLimit);

  function rejectAttempt(context: RequestContext, limit: number, resetAt: number): never {
    // The response reports this limit instead of the general one, because this one caused the 429.
    context.rateLimit = { policy: "sign_in", limit, remaining: 0, resetAt };
    metrics.rateLimited.inc({ kind: "sign_in" });
    throw rateLimited(context.rateLimit, now());
  }

  async function takeOf(context: RequestContext, subjects: readonly LoginSubject[]): Promise<void> {
    for (const subject of subjects) {
      const { from, until } = refused.get(keyOf(subject)) ?? { from: 0, until: 0 };
      // Checks `from` too: if the clock is set back, the entry would prolong the wait.
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

  /** Counts an attempt from a network that is new to the account. Throws RATE_LIMITED during a delay. */
  async function takeSlowly(context: RequestContext, account: string): Promise<void> {
    const attempt = { account, network: coarseNetworkOf(context.address, 48), limit: subjectLimit };
    if (await insertUndelayedAttempt(sql, attempt)) return;
    if (await insertDelayedAttempt(sql, attempt)) return;
    // Not cached in `refused`, because a password reset makes the network known and ends the wait.
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
      // A user who is signed in, or has signed in from this network, does not share the limit of a /48 with strangers.
      if (!isKnownNetwork && !session) await takeOf(context, sitesOf(context));
      if (!isKnownNetwork) await takeSlowly(context, counted);
      return { isKnownNetwork };
    },
  };
}

/** Returns the /48 around an IPv6 client; empty for IPv4. */
function sitesOf({ address }: RequestContext): LoginSubject[] {
  const site = siteOf(address);
  return site === null ? [] : [{ kind: "site", value: site }];
}

function keyOf({ kind, value }: LoginSubject): string {
  return `${kind} ${value.toLowerCase()}`;
}
