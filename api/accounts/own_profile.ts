/** PATCH /users/me: updates the caller's public profile. */
import { Type } from "@sinclair/typebox";
import { findUserProfile } from "../../sql/accounts/users.ts";
import { auditActor } from "../http/audit_actor.ts";
import { notFound } from "../http/not_found.ts";
import { operation, reply } from "../http/operation.ts";
import { requestBody } from "../http/schemas.ts";
import { changeUser } from "./change_user.ts";
import { AboutField, NullableNameField, WebsiteField } from "./profile_fields.ts";
import { OneProfile, USERS_TAG } from "./schemas.ts";

const ProfileUpdate = requestBody(
  "ProfileUpdate",
  {
    name: Type.Optional(NullableNameField),
    bio: Type.Optional(AboutField),
    websiteUrl: Type.Optional(WebsiteField),
  },
  { name: "Petra Lindqvist", bio: "Builds agents", websiteUrl: "https://petra.example" },
);

export const updateOwnProfile = operation(
  {
    id: "updateOwnProfile",
    method: "PATCH",
    path: "/api/v1/users/me",
    access: "session",
    tag: USERS_TAG,
    summary: "Update your public profile",
    description: "Omitted fields stay unchanged.",
    body: ProfileUpdate,
    response: { 200: OneProfile },
  },
  async ({ caller, request, body }, { sql }) => {
    const user = { id: caller.userId, username: caller.username };
    const actor = auditActor(request, caller);
    await sql.begin((tx) => changeUser(tx, { user, changes: body, actor }));
    const profile = await findUserProfile(sql, caller.userId);
    if (!profile) throw notFound("user");
    return reply(200, { data: profile });
  },
);
