/** Quotas of organizations in the registry (docs/contract.md, Limits). */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";
import { isTransaction, type Sql } from "../../sql/connection/pool.ts";
import { countDefinitionQuotas, type DefinitionQuotas } from "../../sql/definitions/quotas.ts";
import { lockTransaction } from "../../sql/locks.ts";

/** Quotas of a paid tier. */
export const DEFINITION_QUOTAS: DefinitionQuotas = { drafts: 1_000, lines: 10_000, yamlBytes: 500_000_000 };

/** Versions of a line, on every tier. Comparing so many takes some milliseconds. */
export const VERSIONS_MAX = 10_000;

/**
 * More than a batch and concurrent writers of single documents add. With this much left, writers of single documents need not
 * wait for others.
 */
const MARGIN: DefinitionQuotas = { drafts: 250, lines: 250, yamlBytes: 10_000_000 };

type Org = Pick<MembershipRow, "orgId" | "slug" | "tier">;

/**
 * Counts the used quotas of an organization. Near a limit, a transaction also locks them (`lockQuotas`), so that writers take
 * turns and none exceeds it. Call it before any other lock, or two writers may wait for each other.
 */
export async function countUsedQuotas(sql: Sql, org: Org): Promise<DefinitionQuotas> {
  const used = await countDefinitionQuotas(sql, org.orgId);
  // Outside a transaction, the lock would only wait for a batch, and for less time than a write may wait.
  if (!isTransaction(sql) || findExceeded(org, used, MARGIN) === null) return used;
  await lockQuotas(sql, org);
  return countDefinitionQuotas(sql, org.orgId);
}

/**
 * Locks the quotas of an organization until the transaction ends. A batch does so before it counts, however much is left. Not
 * the organization itself: its keys, members and exports need not wait for a batch. Call inside a transaction.
 */
export async function lockQuotas(tx: Sql, { orgId }: Pick<Org, "orgId">): Promise<void> {
  await lockTransaction(tx, { name: "definition_quotas", id: orgId });
}

/** Throws QUOTA_EXCEEDED if adding this much to `used` exceeds a quota. */
export function requireRoom(org: Org, used: DefinitionQuotas, added: DefinitionQuotas): void {
  const exceeded = findExceeded(org, used, added);
  if (exceeded === null) return;
  const message = TEXTS.QUOTA_EXCEEDED({ slug: org.slug, ...exceeded });
  throw new ApiError("QUOTA_EXCEEDED", { message, details: exceeded });
}

/** Returns QUOTA_EXCEEDED if a locked line with so many versions has no room for another. */
export function lineFull(versions: number): ApiError | null {
  if (versions < VERSIONS_MAX) return null;
  return new ApiError("QUOTA_EXCEEDED", { details: { quota: "versions", limit: VERSIONS_MAX } });
}

/** Counts and checks. Call it before a document is parsed, and again first in the transaction that adds. */
export async function requireQuota(sql: Sql, org: Org, added: DefinitionQuotas): Promise<void> {
  requireRoom(org, await countUsedQuotas(sql, org), added);
}

function findExceeded(
  { tier }: Org,
  used: DefinitionQuotas,
  added: DefinitionQuotas,
): { quota: keyof DefinitionQuotas; limit: number } | null {
  const share = tier === "free" ? 0.1 : 1;
  for (const quota of ["drafts", "lines", "yamlBytes"] as const) {
    const limit = DEFINITION_QUOTAS[quota] * share;
    if (added[quota] > 0 && used[quota] + added[quota] > limit) return { quota, limit };
  }
  return null;
}
