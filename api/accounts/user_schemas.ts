/** Schemas of public profiles. */
import { t } from "elysia";
import { NullableText } from "../http/schemas.ts";

export const USERS_TAG = "Users";

/** Someone of the demo data, so that examples with this user work there. */
export const EXAMPLE_PROFILE = {
  id: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  username: "demo-publisher",
  name: "Petra Lindqvist",
  bio: null,
  websiteUrl: null,
  avatar: null,
  avatarMimeType: null,
};

export const Profile = t.Object(
  {
    id: t.String({ format: "uuid" }),
    username: t.String(),
    name: NullableText,
    bio: NullableText,
    websiteUrl: NullableText,
    avatar: NullableText,
    avatarMimeType: NullableText,
  },
  { title: "UserProfile", description: "A public profile; unset fields are null" },
);

export const OneProfile = t.Object(
  { data: Profile },
  { description: "The profile", examples: [{ data: EXAMPLE_PROFILE }] },
);
