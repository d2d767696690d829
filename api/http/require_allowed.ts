/**
 * Turns a verdict of shared/policy.ts into the client's error. A resource that the caller cannot see is reported as not found
 * before any verdict (require_visible.ts).
 */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Verdict } from "../../shared/policy.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";

/** Throws the error of a verdict that is not `ok`. If `org` is given, the message names it. */
export function requireAllowed(verdict: Verdict, org?: Pick<MembershipRow, "slug">): void {
  if (verdict.ok) return;
  const { code, details } = verdict;
  throw new ApiError(code, { message: messageOf(verdict, org?.slug), details });
}

/** Returns a message that names the organization; undefined if the code's default message is enough. */
function messageOf({ code, details = {} }: Extract<Verdict, { ok: false }>, slug?: string) {
  const { requiredRole, currentRole, requiredTier, currentTier } = details;
  if (slug === undefined) return undefined;
  if (code === "INSUFFICIENT_ORG_ROLE") return TEXTS[code]({ slug, requiredRole, currentRole });
  if (code === "SUBSCRIPTION_REQUIRED") return TEXTS[code]({ slug, requiredTier, currentTier });
  return undefined;
}
