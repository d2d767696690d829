/** Resolves the organization of a request, and the caller's role in it (docs/contract.md, Organizations and permissions). */
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
 * Returns the organization of a request. The sources are, in order: the path or body (`namedSlug`), the key, `X-Org-Slug`, the
 * caller's personal organization. Throws `ORG_ACCESS_DENIED` if the first three disagree. Throws the same error if the caller
 * is not a member, whether or not the organization exists. Throws `SECOND_FACTOR_REQUIRED` if the organization requires a
 * second factor that the session lacks.
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

/** Returns the organization that the caller's key is bound to; null for other credentials. */
export function boundOrgOf({ credential }: Caller): string | null {
  return credential.type === "key" ? credential.orgId : null;
}

/** Returns the error for a request that names a different organization than its `X-Org-Slug` header. */
export function orgsDiffer(): ApiError {
  return new ApiError("ORG_ACCESS_DENIED", { message: TEXTS.ORG_ACCESS_DENIED.differ });
}

/** Returns the error for a caller who is not a member. The error must not reveal whether the organization exists. */
function orgAccessDenied(slug: string | null): ApiError {
  if (slug === null) return new ApiError("ORG_ACCESS_DENIED");
  // An invalid slug can have any length, so it is not repeated.
  const shown = isAccountSlug(slug) ? slug : null;
  return new ApiError("ORG_ACCESS_DENIED", { message: TEXTS.ORG_ACCESS_DENIED.notMember(shown) });
}

async function findBySlug(sql: Sql, userId: string, slug: string): Promise<MembershipRow | null> {
  return isAccountSlug(slug) ? findMembershipBySlug(sql, { userId, slug }) : null;
}
