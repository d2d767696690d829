/** GET /users/{id}, POST /users/batch and PATCH /users/me: public profiles, without email and role. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { dataOf, requestBody, Uuid } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { type AuditActor, insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findUserProfile, listUserProfiles, type UserChanges, updateUser } from "../../sql/accounts/users.ts";
import { type Sql, violates } from "../../sql/connection/pool.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";
import { findUnknownFields, invalidField, invalidInput, type Problem } from "../http/validation_problems.ts";
import {
  AboutField,
  aboutProblem,
  checkTexts,
  emailProblem,
  NullableNameField,
  nameProblem,
  WebsiteField,
  websiteProblem,
} from "./profile_fields.ts";
import { EXAMPLE_PROFILE, OneProfile, Profile, USERS_TAG } from "./schemas.ts";

export const getUser = operation(
  {
    id: "getUser",
    method: "GET",
    path: "/api/v1/users/{id}",
    access: "public",
    tag: USERS_TAG,
    summary: "Get a user's public profile",
    description: "Unset fields are null. Email is never included.",
    params: { id: Type.String({ description: "The user's id, a UUID", examples: [EXAMPLE_PROFILE.id] }) },
    response: { 200: OneProfile },
    fails: [["NOT_FOUND", { reason: "user" }]],
  },
  async ({ params: { id } }, { sql }) => {
    if (!isUuid(id)) throw invalidField("id", "must be a UUID");
    const profile = await findUserProfile(sql, id);
    if (!profile) throw notFound("user");
    return reply(200, { data: profile });
  },
);

const MAX_BATCH_IDS = 100;

const UserIds = requestBody(
  "UserIds",
  { ids: Type.Array(Uuid(), { minItems: 1, maxItems: MAX_BATCH_IDS }) },
  { ids: [EXAMPLE_PROFILE.id] },
);

const ProfilesById = dataOf(
  Type.Record(Type.String(), Profile),
  "Profiles by user id in lower case; users that do not exist are left out",
  { [EXAMPLE_PROFILE.id]: EXAMPLE_PROFILE },
);

export const getUsers = operation(
  {
    id: "getUsers",
    method: "POST",
    path: "/api/v1/users/batch",
    access: "public",
    tag: USERS_TAG,
    summary: "Get up to 100 public profiles",
    description: "Returns profiles by user id. Keys with the scope `read` can call it.",
    uncheckedBody: UserIds,
    response: { 200: ProfilesById },
    reads: true,
    fails: ["UNPROCESSABLE_ENTITY"],
  },
  async ({ body }, { sql }) => {
    const profiles = await listUserProfiles(sql, parseBatch(body));
    return reply(200, { data: Object.fromEntries(profiles.map((profile) => [profile.id, profile])) });
  },
);

/**
 * Returns the ids of a batch in lower case, without duplicates. Throws VALIDATION_ERROR for unknown fields and
 * UNPROCESSABLE_ENTITY for other problems, for which a schema would return 400.
 */
function parseBatch(options: { ids?: unknown }): string[] {
  const unknown = findUnknownFields(options, ["ids"]);
  if (unknown.length > 0) throw invalidInput(unknown);
  const { ids } = options;
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > MAX_BATCH_IDS) {
    throw invalidBatch([{ path: "ids", message: `must be a list of 1 to ${MAX_BATCH_IDS} user ids` }]);
  }
  const problems = ids.flatMap((id, index) =>
    typeof id === "string" && isUuid(id) ? [] : [{ path: `ids.${index}`, message: "must be a UUID" }],
  );
  if (problems.length > 0) throw invalidBatch(problems);
  return [...new Set(ids.map((id) => String(id).toLowerCase()))];
}

function invalidBatch(problems: readonly Problem[]): ApiError {
  const [first] = problems;
  return new ApiError("UNPROCESSABLE_ENTITY", {
    ...(first && { message: TEXTS.VALIDATION_ERROR.problem(first) }),
    details: { errors: problems },
  });
}

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
  async ({ caller, request, body }, deps) => {
    const user = { id: caller.userId, username: caller.username };
    const actor = auditActor(request, caller);
    await deps.writeAccountInTurn(request, (tx) => changeUser(tx, { user, changes: body, actor }));
    const profile = await findUserProfile(deps.sql, caller.userId);
    if (!profile) throw notFound("user");
    return reply(200, { data: profile });
  },
);

/**
 * Changes the given fields and adds an audit entry with the fields' names. Operators can also change email and role. Does
 * nothing without fields. Call inside a transaction. Throws VALIDATION_ERROR, and NAME_TAKEN if another user has the email.
 */
export async function changeUser(
  tx: Sql,
  change: { user: { id: string; username: string }; changes: UserChanges; actor: AuditActor },
): Promise<void> {
  const { user, changes, actor } = change;
  checkUserChanges(changes);
  const changed = Object.keys(changes);
  if (changed.length === 0) return;
  await updateUser(tx, user.id, changes).catch((error: unknown) => {
    if (!violates(error, "users_email_key")) throw error;
    throw new ApiError("NAME_TAKEN", { message: TEXTS.NAME_TAKEN.email(String(changes.email)) });
  });
  await insertAuditEntry(tx, {
    ...actor,
    action: "user.update",
    subject: { type: "user", id: user.id },
    details: { username: user.username, changed: changed.join(", ") },
  });
}

/** Throws VALIDATION_ERROR with every invalid field. */
export function checkUserChanges(changes: UserChanges): void {
  checkTexts(
    { ...changes },
    { name: nameProblem, email: emailProblem, bio: aboutProblem, websiteUrl: websiteProblem },
  );
}
