/** PATCH /users/me: updates the caller's public profile. */
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findUserProfile, updateUser } from "../../sql/accounts/users.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import {
  AboutField,
  aboutProblem,
  checkProfileUpdate,
  NullableNameField,
  nameProblem,
  WebsiteField,
  websiteProblem,
} from "./profile_fields.ts";
import { OneProfile, USERS_TAG } from "./schemas.ts";

const ProfileUpdate = Type.Object(
  {
    name: Type.Optional(NullableNameField),
    bio: Type.Optional(AboutField),
    websiteUrl: Type.Optional(WebsiteField),
  },
  {
    title: "ProfileUpdate",
    additionalProperties: false,
    examples: [{ name: "Petra Lindqvist", bio: "Builds agents", websiteUrl: "https://petra.example" }],
  },
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
    checkProfileUpdate(body, { name: nameProblem, bio: aboutProblem, websiteUrl: websiteProblem });
    const changed = Object.keys(body);
    if (changed.length > 0) {
      await sql.begin(async (tx) => {
        await updateUser(tx, caller.userId, body);
        await insertAuditEntry(tx, {
          ...auditActor(request, caller),
          action: "user.update",
          subjectType: "user",
          subjectId: caller.userId,
          details: { changed: changed.join(", ") },
        });
      });
    }
    const profile = await findUserProfile(sql, caller.userId);
    if (!profile) throw new ApiError("NOT_FOUND", { details: { reason: "user" } });
    return reply(200, { data: profile });
  },
);
