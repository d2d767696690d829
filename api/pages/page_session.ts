/** Who is signed in on a page, and the organization it is about. */
import type { OrgRole, SubscriptionTier } from "../../shared/vocabulary.ts";

/** As GET /auth/me has it. */
export interface PageOrg {
  id: string;
  slug: string;
  name: string;
  role: OrgRole;
  subscriptionTier: SubscriptionTier;
  isPersonal: boolean;
}

export interface PageSession {
  user: { id: string; email: string; username: string; name: string | null };
  organizations: readonly PageOrg[];
  /** The one that `?org=` names; without, the first that is not personal. Null if the caller is no member of it. */
  org: PageOrg | null;
  /** Goes into the hidden field `form_token` of every form. */
  formToken: string;
}

/** Chooses the organization of a page. */
export function chooseOrg(organizations: readonly PageOrg[], named: string | null): PageOrg | null {
  if (named !== null) return organizations.find(({ slug }) => slug === named) ?? null;
  return organizations.find(({ isPersonal }) => !isPersonal) ?? organizations[0] ?? null;
}
