/** Turns a verdict of shared/policy.ts into the error that a client gets. */
import { ApiError } from "../../shared/errors.ts";
import type { Verdict } from "../../shared/policy.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";

/** Ends an error message that names the organization of the request. */
export const OTHER_ORG_ADVICE = "Set X-Org-Slug to use another organization.";

/** Throws the error of a verdict that is not `ok`. Its message names `org`, if it is given. */
export function requireAllowed(verdict: Verdict, org?: Pick<MembershipRow, "slug">): void {
  if (verdict.ok) return;
  const { code, details } = verdict;
  const message = messageOf(verdict, org?.slug);
  throw new ApiError(code, { ...(message ? { message } : {}), ...(details ? { details } : {}) });
}

/** A message with the values in `details`; `null` where the default message says enough. */
function messageOf({ code, details = {} }: Extract<Verdict, { ok: false }>, slug?: string): string | null {
  const { requiredRole, currentRole, requiredTier, currentTier, organization: name } = details;
  const organization = slug === undefined ? "this organization" : `organization "${slug}"`;
  const advice = slug === undefined ? "" : ` ${OTHER_ORG_ADVICE}`;
  if (code === "INSUFFICIENT_ORG_ROLE") {
    return `This requires the ${requiredRole} role or above. Your role in ${organization} is ${currentRole}.${advice}`;
  }
  if (code === "SECOND_FACTOR_REQUIRED") {
    return `Organization "${name}" requires a second factor. Add one to your account with POST /api/v1/auth/factors/totp, or sign in with yours.`;
  }
  if (code === "ROLE_REQUIRED") return `This requires the platform role ${requiredRole}.`;
  if (code === "SUBSCRIPTION_REQUIRED") {
    const current = slug === undefined ? "The organization" : `Organization "${slug}"`;
    return `This requires the ${requiredTier} tier or above. ${current} is on the ${currentTier} tier.${advice}`;
  }
  return null;
}
