/** PATCH /users/me: updates the caller's public profile. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findUserProfile, updateUser } from "../../sql/accounts/users.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { access } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import { aboutProblem, nameProblem, websiteProblem } from "./profile_fields.ts";
import { AboutField, checkProfileUpdate, NullableNameField, WebsiteField } from "./profile_update.ts";
import { OneProfile, USERS_TAG } from "./user_schemas.ts";

const OwnProfileBody = t.Object(
  {
    name: t.Optional(NullableNameField),
    bio: t.Optional(AboutField),
    websiteUrl: t.Optional(WebsiteField),
  },
  {
    title: "ProfileUpdate",
    additionalProperties: false,
    examples: [{ name: "Petra Lindqvist", bio: "Builds agents", websiteUrl: "https://petra.example" }],
  },
);

const RULES = { name: nameProblem, bio: aboutProblem, websiteUrl: websiteProblem };

export function ownProfileRoutes({ sql }: { sql: Pool }) {
  return new Elysia({ prefix: "/users" }).use(access).patch(
    "/me",
    async ({ caller, request, body }) => {
      checkProfileUpdate(body, RULES);
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
      return { data: profile };
    },
    {
      access: "session",
      body: OwnProfileBody,
      response: { 200: OneProfile },
      detail: {
        tags: [USERS_TAG],
        operationId: "updateOwnProfile",
        summary: "Update your public profile",
        description: "Omitted fields stay unchanged.",
      },
    },
  );
}
