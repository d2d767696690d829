/** /settings: profile, API keys and sessions of the signed-in user. */
import { type PageRoute, seeOther } from "../page.ts";
import { confirmEmail, showConfirmEmail } from "./email.ts";
import { changeFactors, confirmRemoval, removeFactor, showFactors } from "./factors.ts";
import { confirmRevoke, createKey, revokeKey, showKeys } from "./keys.ts";
import { makeOrganization, showOrganizations } from "./organizations.ts";
import { saveProfile, showProfile } from "./profile.ts";
import { confirmEnd, confirmEndOthers, endOthers, endSession, showSessions } from "./sessions.ts";

export const SETTINGS_PAGES: readonly PageRoute[] = [
  ["GET", "/settings", "all", () => seeOther("/settings/profile")],
  ["GET", "/settings/profile", "signedIn", showProfile],
  ["POST", "/settings/profile", "signedIn", saveProfile],
  ["GET", "/confirm-email", "all", showConfirmEmail, { ignoresCookie: true }],
  ["POST", "/confirm-email", "all", confirmEmail, { ignoresCookie: true }],
  ["GET", "/settings/organizations", "signedIn", showOrganizations],
  ["POST", "/settings/organizations", "signedIn", makeOrganization],
  ["GET", "/settings/keys", "signedIn", showKeys],
  ["POST", "/settings/keys", "signedIn", createKey],
  ["GET", "/settings/keys/:id/revoke", "signedIn", confirmRevoke],
  ["POST", "/settings/keys/:id/revoke", "signedIn", revokeKey],
  ["GET", "/settings/second-factor", "signedIn", showFactors],
  ["POST", "/settings/second-factor", "signedIn", changeFactors],
  ["GET", "/settings/second-factor/:id/remove", "signedIn", confirmRemoval],
  ["POST", "/settings/second-factor/:id/remove", "signedIn", removeFactor],
  ["GET", "/settings/sessions", "signedIn", showSessions],
  ["GET", "/settings/sessions/end-others", "signedIn", confirmEndOthers],
  ["POST", "/settings/sessions/end-others", "signedIn", endOthers],
  ["GET", "/settings/sessions/:id/end", "signedIn", confirmEnd],
  ["POST", "/settings/sessions/:id/end", "signedIn", endSession],
];
