/**
 * Resolves the organization of a request, and the caller's role there (docs/contract.md, Organizations and
 * permissions).
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { maySeeOrg } from "../../shared/policy.ts";
import { isAccountSlug } from "../../shared/slugs.ts";
import {
  findMembership,
  findMembershipBySlug,
  findPersonalMembership,
  type MembershipRow,
} from "../../sql/accounts/organization_members.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { Caller } from "./caller.ts";
import { requestContext } from "./request_context.ts";
import { requireAllowed } from "./require_allowed.ts";

/**
 * Returns the organization of a request: from the path or body (`namedSlug`), the key, `X-Org-Slug`, or the caller's
 * personal one, in this order. Throws `ORG_ACCESS_DENIED` if these disagree, and if the caller is not a member, whether or
 * not the organization exists. Throws `SECOND_FACTOR_REQUIRED` if the organization requires one and the session has none.
 */
export async function resolveOrg(
  sql: Sql,
  caller: Caller,
  request: Request,
  namedSlug: string | null = null,
): Promise<MembershipRow> {
  const headerSlug = request.headers.get("x-org-slug");
  const slug = namedSlug ?? headerSlug;
  if (headerSlug !== null && headerSlug !== slug) throw orgsDiffer();
  const boundTo = boundOrgOf(caller);
  const { userId } = caller;
  const membership = await (boundTo
    ? findMembership(sql, { userId, orgId: boundTo })
    : slug === null
      ? findPersonalMembership(sql, userId)
      : findBySlug(sql, userId, slug));
  if (membership && slug !== null && membership.slug !== slug) {
    throw new ApiError("ORG_ACCESS_DENIED", { message: TEXTS.ORG_ACCESS_DENIED.boundKey(membership.slug) });
  }
  if (!membership) throw orgAccessDenied(slug);
  requestContext(request).orgId = membership.orgId;
  requireAllowed(maySeeOrg(caller.credential, membership));
  return membership;
}

/** Returns the one organization that the caller's key works for; `null` if it works for all of its owner's. */
export function boundOrgOf({ credential }: Caller): string | null {
  return credential.type === "key" ? credential.orgId : null;
}

/** Returns the error for a request that names one organization, and another one in `X-Org-Slug`. */
export function orgsDiffer(): ApiError {
  return new ApiError("ORG_ACCESS_DENIED", { message: TEXTS.ORG_ACCESS_DENIED.differ });
}

/** Returns the error for a caller who is not a member. It must not reveal whether the organization exists. */
function orgAccessDenied(slug: string | null): ApiError {
  if (slug === null) return new ApiError("ORG_ACCESS_DENIED");
  // Other texts can be of any length.
  const shown = isAccountSlug(slug) ? slug : null;
  return new ApiError("ORG_ACCESS_DENIED", { message: TEXTS.ORG_ACCESS_DENIED.notMember(shown) });
}

async function findBySlug(sql: Sql, userId: string, slug: string): Promise<MembershipRow | null> {
  return isAccountSlug(slug) ? findMembershipBySlug(sql, { userId, slug }) : null;
}
