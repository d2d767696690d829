/** Who may fork what: the same response for those who ask and for those who do it. */
import { allowsOperation } from "../../../shared/definitions/lifecycle.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type ForkOrigin, forkDenial, forkDenialOfSource } from "../../../shared/policy.ts";
import type { ForkDenial } from "../../../shared/vocabulary.ts";
import { findMembership } from "../../../sql/accounts/organization_members.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import { unauthorized } from "../../http/authenticate.ts";
import type { Caller } from "../../http/caller.ts";
import { resolveOrg } from "../../http/organization.ts";
import { type DefinitionAddress, formatAddress, type VersionId } from "../address.ts";
import { findTarget, type ReadTarget, requireAnyVersion, viewerOf } from "../find_readable.ts";

/** Throws NOT_FORKABLE for a version that is neither published nor deprecated, nor the caller's own. */
export async function requireForkable(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<void> {
  const reason = forkDenialOfSource(await sourceOf(sql, row, viewer));
  if (reason === null) return;
  const status = row.quarantinedAt === null ? row.status : null;
  throw new ApiError("NOT_FORKABLE", {
    message: TEXTS.NOT_FORKABLE({ type: row.type, address: formatAddress(row) }, status),
    details: { reason },
  });
}

/**
 * Why a caller cannot fork what an address names; `null` when they can. `X-Org-Slug` names the organization that gets
 * the fork, and not where to look. Throws NOT_FOUND, ORG_ACCESS_DENIED, or UNAUTHORIZED for a header without a
 * credential.
 */
export async function findForkDenial(
  sql: Sql,
  options: { address: DefinitionAddress | VersionId; visitor: Caller | null; request: Request },
): Promise<ForkDenial | null> {
  const { address, visitor, request } = options;
  if (!visitor && request.headers.has("x-org-slug")) {
    throw unauthorized(TEXTS.UNAUTHORIZED.org);
  }
  const org = visitor ? await resolveOrg(sql, visitor, request) : null;
  const source = await findForkSource(sql, await findTarget(sql, address, viewerOf(visitor)));
  return forkDenial(source, org?.role ?? null);
}

async function findForkSource(sql: Sql, target: ReadTarget): Promise<ForkOrigin> {
  const row = await requireAnyVersion(sql, target);
  const isResolvable = row.quarantinedAt === null && allowsOperation(row.status, "fork");
  if (target.address.version !== null || isResolvable) return sourceOf(sql, row, target.scope.viewer);
  // A name without a version stands for a published one: being a member does not make one of it.
  return { status: row.status === "archived" ? "archived" : null, isOwn: false, isQuarantined: false };
}

async function sourceOf(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<ForkOrigin> {
  const { status, quarantinedAt } = row;
  return { status, isOwn: await isOwn(sql, row, viewer), isQuarantined: quarantinedAt !== null };
}

/** Whether a version belongs to an organization that the viewer is a member of. */
async function isOwn(sql: Sql, { orgId }: DefinitionRow, viewer: DefinitionViewer): Promise<boolean> {
  const { userId, boundOrgId, isUnproven } = viewer;
  if (userId === null || (boundOrgId !== null && boundOrgId !== orgId)) return false;
  const membership = await findMembership(sql, { userId, orgId });
  return membership !== null && !(isUnproven && membership.requireSecondFactor);
}
