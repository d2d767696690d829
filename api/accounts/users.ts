/** GET /users/{id} and POST /users/batch: public profiles. Email and role are not part of them. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import { findUserProfile, listUserProfiles } from "../../sql/accounts/users.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import { access, onlyReads } from "../http/access.ts";
import { findUnknownFields, invalidInput, type Problem } from "../http/validation_problems.ts";
import { failsWith } from "../openapi/types.ts";
import { EXAMPLE_PROFILE, OneProfile, Profile, USERS_TAG } from "./user_schemas.ts";

const MAX_BATCH_IDS = 100;

const ProfilesById = t.Object(
  { data: t.Record(t.String(), Profile) },
  {
    description: "Profiles by user id in lower case; users that do not exist are left out",
    examples: [{ data: { [EXAMPLE_PROFILE.id]: EXAMPLE_PROFILE } }],
  },
);

/** Returns `object` because Elysia has its own types for schemas in a `detail`. */
function batchBody(): object {
  return {
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: t.Object(
            { ids: t.Array(t.String({ format: "uuid" }), { minItems: 1, maxItems: MAX_BATCH_IDS }) },
            { title: "UserIds", additionalProperties: false },
          ),
          example: { ids: [EXAMPLE_PROFILE.id] },
        },
      },
    },
  };
}

/**
 * Returns the ids of a batch in lower case, without duplicates. Throws VALIDATION_ERROR for unknown fields, and
 * UNPROCESSABLE_ENTITY with every other problem; a schema would answer 400.
 */
function parseBatch(body: unknown): string[] {
  const given: { ids?: unknown } = typeof body === "object" && body !== null ? body : {};
  const unknown = findUnknownFields(given, ["ids"]);
  if (unknown.length > 0) throw invalidInput(unknown);
  const { ids } = given;
  if (!Array.isArray(ids)) throw invalidBatch([{ path: "ids", message: "must be a list of user ids" }]);
  if (ids.length < 1 || ids.length > MAX_BATCH_IDS) {
    throw invalidBatch([{ path: "ids", message: `must have from 1 to ${MAX_BATCH_IDS} ids` }]);
  }
  const known = ids.filter((id) => typeof id === "string" && isUuid(id));
  if (known.length < ids.length) {
    throw invalidBatch(
      ids.flatMap((id, index) =>
        known.includes(id) ? [] : [{ path: `ids.${index}`, message: "must be a UUID" }],
      ),
    );
  }
  return [...new Set(known.map((id) => id.toLowerCase()))];
}

function invalidBatch(problems: readonly Problem[]): ApiError {
  return new ApiError("UNPROCESSABLE_ENTITY", {
    message: `Invalid request: ${problems[0]?.path} ${problems[0]?.message}.`,
    details: { errors: problems },
  });
}

export function userRoutes({ sql }: { sql: Pool }) {
  return new Elysia({ prefix: "/users" })
    .use(access)
    .get(
      "/:id",
      async ({ params }) => {
        if (!isUuid(params.id)) throw invalidInput([{ path: "id", message: "must be a UUID" }]);
        const profile = await findUserProfile(sql, params.id);
        if (!profile) throw new ApiError("NOT_FOUND", { details: { reason: "user" } });
        return { data: profile };
      },
      {
        publicAccess: true,
        params: t.Object({
          id: t.String({ description: "The user's id, a UUID", examples: [EXAMPLE_PROFILE.id] }),
        }),
        response: { 200: OneProfile },
        detail: {
          tags: [USERS_TAG],
          operationId: "getUser",
          summary: "Get a user's public profile",
          description: "Unset fields are null. Email is never included.",
          ...failsWith(["NOT_FOUND", { reason: "user" }]),
        },
      },
    )
    .post(
      "/batch",
      async ({ body }) => {
        const profiles = await listUserProfiles(sql, parseBatch(body));
        return { data: Object.fromEntries(profiles.map((profile) => [profile.id, profile])) };
      },
      {
        publicAccess: true,
        response: { 200: ProfilesById },
        detail: {
          tags: [USERS_TAG],
          operationId: "getUsers",
          summary: "Get up to 100 public profiles",
          description: "Returns profiles by user id. Keys with the scope `read` can call it.",
          ...batchBody(),
          ...onlyReads(),
          ...failsWith("UNPROCESSABLE_ENTITY"),
        },
      },
    );
}
