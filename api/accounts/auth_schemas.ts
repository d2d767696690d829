/** What the routes of signing in have in common: words, examples, a check. */
import {
  KEY_KINDS,
  KEY_SCOPES,
  ORG_ROLES,
  PLATFORM_ROLES,
  SUBSCRIPTION_TIERS,
} from "../../shared/vocabulary.ts";
import { oneOf } from "../http/schemas.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { EXAMPLE_PROFILE } from "./user_schemas.ts";

export const AUTH_TAG = "Authentication";

export const KeyKindSchema = oneOf(KEY_KINDS);
export const KeyScopeSchema = oneOf(KEY_SCOPES);
export const OrgRoleSchema = oneOf(ORG_ROLES);
export const PlatformRoleSchema = oneOf(PLATFORM_ROLES);
export const SubscriptionTierSchema = oneOf(SUBSCRIPTION_TIERS);

/** Someone of the demo data. */
export const EXAMPLE_USER = {
  id: EXAMPLE_PROFILE.id,
  email: "publisher@demo.example",
  username: EXAMPLE_PROFILE.username,
  role: "user",
} as const;

export const EXAMPLE_SESSION = {
  sessionToken: "uls_Q2hhbmdlIG1lIGJlZm9yZSB5b3UgdXNlIG1lLCBwbHM",
  expiresAt: "2026-12-04T10:00:00.000Z",
} as const;

/** PostgreSQL stores no NUL in text. */
export function rejectNul(path: string, text: string): void {
  if (text.includes("\0")) throw invalidInput([{ path, message: "must not contain the character NUL" }]);
}
