/**
 * Turns a verdict of shared/policy.ts into the error that a client gets. Anything that the caller may not see is reported as
 * not found before a verdict is needed (require_visible.ts).
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Verdict } from "../../shared/policy.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";

/** Throws the error of a verdict that is not `ok`. Its message names `org`, if it is given. */
export function requireAllowed(verdict: Verdict, org?: Pick<MembershipRow, "slug">): void {
  if (verdict.ok) return;
  const { code, details } = verdict;
  throw new ApiError(code, { message: messageOf(verdict, org?.slug), details });
}

/** A message that names the organization; undefined where the code's own says enough. */
function messageOf({ code, details = {} }: Extract<Verdict, { ok: false }>, slug?: string) {
  const { requiredRole, currentRole, requiredTier, currentTier } = details;
  if (slug === undefined) return undefined;
  if (code === "INSUFFICIENT_ORG_ROLE") return TEXTS[code]({ slug, requiredRole, currentRole });
  if (code === "SUBSCRIPTION_REQUIRED") return TEXTS[code]({ slug, requiredTier, currentTier });
  return undefined;
}
