/** Schemas and examples that several endpoints of accounts use. */
import { Type } from "@sinclair/typebox";
import { dataOf, NullableText, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import {
  KEY_KINDS,
  KEY_SCOPES,
  ORG_ROLES,
  PLATFORM_ROLES,
  SUBSCRIPTION_TIERS,
} from "../../shared/vocabulary.ts";

export const AUTH_TAG = "Authentication";
export const USERS_TAG = "Users";

/** Settings of operations on the caller's own account. */
export const OWN_ACCOUNT = { access: "session", tag: AUTH_TAG } as const;
/** Settings of operations for visitors, whose browsers may send an expired cookie. The response is stored for repeated requests. */
export const FOR_VISITORS = { method: "POST", access: "public", tag: AUTH_TAG, ignoresCookie: true } as const;
/** Settings of operations for visitors with a password or token in the body, whose response is not stored. */
export const SIGNED_OUT = { ...FOR_VISITORS, secret: true } as const;

export const KeyKindSchema = oneOf(KEY_KINDS);
export const KeyScopeSchema = oneOf(KEY_SCOPES);
export const OrgRoleSchema = oneOf(ORG_ROLES);
export const PlatformRoleSchema = oneOf(PLATFORM_ROLES);
export const SubscriptionTierSchema = oneOf(SUBSCRIPTION_TIERS);

/** A user of the demo data, so that the examples work with that data. */
export const EXAMPLE_PROFILE = {
  id: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  username: "demo-publisher",
  name: "Petra Lindqvist",
  bio: null,
  websiteUrl: null,
  avatar: null,
  avatarMimeType: null,
};

/** The account of the same demo user. */
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

export const Profile = Type.Object(
  {
    id: Uuid(),
    username: Text,
    name: NullableText,
    bio: NullableText,
    websiteUrl: NullableText,
    avatar: NullableText,
    avatarMimeType: NullableText,
  },
  { title: "UserProfile", description: "A public profile; unset fields are null" },
);

export const OneProfile = dataOf(Profile, "The profile", EXAMPLE_PROFILE);
