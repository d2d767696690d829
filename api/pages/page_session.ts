/** Who is signed in on a page, and the token of their forms. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import type { OrgRole, SubscriptionTier } from "../../shared/vocabulary.ts";
import { readSessionTokens } from "../http/session_cookie.ts";

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

/** Derives the token of a session's forms: who can read it is that session. Null without a session. */
export function formTokenOf(headers: Headers, config: Pick<Config, "publicUrl">): string | null {
  const [token] = readSessionTokens(headers, config) ?? [];
  return token === undefined ? null : createHmac("sha256", token).update("form token").digest("base64url");
}

/** Throws FORBIDDEN_ORIGIN unless the form has the session's token. */
export function requireFormToken(form: URLSearchParams, expected: string): void {
  const given = Buffer.from(form.get("form_token") ?? "");
  const wanted = Buffer.from(expected);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new ApiError("FORBIDDEN_ORIGIN", {
    message: "This form belongs to another session. Go back, reload the page and send the form again.",
  });
}
