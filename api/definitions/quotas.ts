/** Quotas of organizations in the registry (docs/contract.md, Limits). */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";
import { isTransaction, type Sql } from "../../sql/connection/pool.ts";
import { countDefinitionQuotas, type DefinitionQuotas } from "../../sql/definitions/quotas.ts";
import { lockTransaction } from "../../sql/locks.ts";

/** Quotas of an organization on a paid tier. */
export const DEFINITION_QUOTAS: DefinitionQuotas = { drafts: 1_000, lines: 10_000, yamlBytes: 500_000_000 };

/** Maximum versions of a line, on every tier. Comparing that many takes some milliseconds. */
export const VERSIONS_MAX = 10_000;

/** More than a batch and concurrent single-document writes add. With this much left, single-document writes need no lock. */
const MARGIN: DefinitionQuotas = { drafts: 250, lines: 250, yamlBytes: 10_000_000 };

type Org = Pick<MembershipRow, "orgId" | "slug" | "tier">;

/**
 * Counts the used quotas of an organization. Near a limit, a transaction also locks the quotas (`lockQuotas`), so that
 * concurrent writers cannot exceed the limit. Call this before any other lock to prevent deadlocks.
 */
export async function countUsedQuotas(sql: Sql, org: Org): Promise<DefinitionQuotas> {
  const used = await countDefinitionQuotas(sql, org.orgId);
  // Outside a transaction, the lock would only wait for a batch, with a shorter timeout than a write has.
  if (!isTransaction(sql) || findExceeded(org, used, MARGIN) === null) return used;
  await lockQuotas(sql, org);
  return countDefinitionQuotas(sql, org.orgId);
}

/**
 * Locks the quotas of an organization until the transaction ends. A batch always takes this lock before it counts. The lock is
 * not on the organization itself, so changes to its keys, members and exports need not wait. Call inside a transaction.
 */
export async function lockQuotas(tx: Sql, { orgId }: Pick<Org, "orgId">): Promise<void> {
  await lockTransaction(tx, { name: "definition_quotas", id: orgId });
}

/** Throws QUOTA_EXCEEDED if `used` plus `added` exceeds a quota. */
export function requireRoom(org: Org, used: DefinitionQuotas, added: DefinitionQuotas): void {
  const exceeded = findExceeded(org, used, added);
  if (exceeded === null) return;
  const message = TEXTS.QUOTA_EXCEEDED({ slug: org.slug, ...exceeded });
  throw new ApiError("QUOTA_EXCEEDED", { message, details: exceeded });
}

/** Returns QUOTA_EXCEEDED if a locked line with this many versions is full, else null. */
export function lineFull(versions: number): ApiError | null {
  if (versions < VERSIONS_MAX) return null;
  return new ApiError("QUOTA_EXCEEDED", { details: { quota: "versions", limit: VERSIONS_MAX } });
}

/** Throws QUOTA_EXCEEDED if adding this much exceeds a quota. Call before parsing a document, and first in the transaction. */
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
