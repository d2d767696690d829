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
  ["FORM", "/settings/profile", "signedIn", [showProfile, saveProfile]],
  ["FORM", "/confirm-email", "all", [showConfirmEmail, confirmEmail], { ignoresCookie: true }],
  ["FORM", "/settings/organizations", "signedIn", [showOrganizations, makeOrganization]],
  ["FORM", "/settings/keys", "signedIn", [showKeys, createKey]],
  ["GET", "/settings/keys/:id/revoke", "signedIn", confirmRevoke],
  ["POST", "/settings/keys/:id/revoke", "signedIn", revokeKey],
  ["FORM", "/settings/second-factor", "signedIn", [showFactors, changeFactors]],
  ["GET", "/settings/second-factor/:id/remove", "signedIn", confirmRemoval],
  ["POST", "/settings/second-factor/:id/remove", "signedIn", removeFactor],
  ["GET", "/settings/sessions", "signedIn", showSessions],
  ["GET", "/settings/sessions/end-others", "signedIn", confirmEndOthers],
  ["POST", "/settings/sessions/end-others", "signedIn", endOthers],
  ["GET", "/settings/sessions/:id/end", "signedIn", confirmEnd],
  ["POST", "/settings/sessions/:id/end", "signedIn", endSession],
];
