/** GET, POST and DELETE /auth/keys: the caller's own API keys. Requires a session. */
import { Elysia, t } from "elysia";
import { parseAsOf } from "../../shared/as_of.ts";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import {
  type ApiKeyRow,
  countLiveApiKeys,
  insertApiKey,
  listApiKeys,
  markOwnApiKeyRevoked,
} from "../../sql/accounts/api_keys.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { findMembershipBySlug } from "../../sql/accounts/organization_members.ts";
import { lockActiveUser } from "../../sql/accounts/users.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { access, holdsSecret } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import { invalidInput } from "../http/validation_problems.ts";
import { failsWith } from "../openapi/types.ts";
import type { AuthDeps } from "./auth_deps.ts";
import { AUTH_TAG } from "./auth_schemas.ts";
import { LIVE_KEYS_MAX, mintApiKey } from "./credentials.ts";
import { CreatedKey, CreateKeyBody, EXAMPLE_KEY_ID, KeyList } from "./key_schemas.ts";
import { rejectUnreadable } from "./label_text.ts";

const KeyParams = t.Object({
  id: t.String({ description: "The key's id, not the key", examples: [EXAMPLE_KEY_ID] }),
});

function presentKey(row: ApiKeyRow) {
  const { id, name, prefix, kind, scope, orgId, lastUsedAt, expiresAt, createdAt } = row;
  return { id, name, prefix, kind, scope, organizationId: orgId, lastUsedAt, expiresAt, createdAt };
}

/** Parses the expiry of a key. Throws VALIDATION_ERROR unless it lies in the future. */
function parseExpiry(given: string): string {
  const expiresAt = parseAsOf(given);
  if (!expiresAt) {
    throw invalidInput([{ path: "expiresAt", message: "must be an ISO 8601 instant with an offset" }]);
  }
  if (Date.parse(expiresAt) <= Date.now()) {
    throw invalidInput([{ path: "expiresAt", message: "must be in the future" }]);
  }
  return expiresAt;
}

/** Returns the id of the organization to bind a key to; `null` without a slug. Throws ORG_ACCESS_DENIED. */
async function findKeyOrgId(sql: Sql, caller: Caller, slug: string | undefined): Promise<string | null> {
  if (slug === undefined) return null;
  rejectUnreadable("organization", slug);
  const membership = await findMembershipBySlug(sql, { userId: caller.userId, slug });
  if (membership) return membership.orgId;
  throw new ApiError("ORG_ACCESS_DENIED", {
    message: `You are not a member of organization "${slug}", or it does not exist. Name one of your organizations.`,
  });
}

/** Throws QUOTA_EXCEEDED at the limit. Locks the user, so that concurrent requests cannot exceed it together. */
async function requireRoomForKey(tx: Sql, userId: string): Promise<void> {
  if (!(await lockActiveUser(tx, { id: userId }))) throw unauthorized("Your account is disabled.");
  if ((await countLiveApiKeys(tx, userId)) < LIVE_KEYS_MAX) return;
  throw new ApiError("QUOTA_EXCEEDED", {
    message: `You have ${LIVE_KEYS_MAX} API keys, the maximum. Revoke one that you no longer need.`,
    details: { quota: "keys", limit: LIVE_KEYS_MAX },
  });
}

/** Creates a key and writes an audit entry. */
async function createKey(
  { sql }: Pick<AuthDeps, "sql">,
  { caller, request, body }: { caller: Caller; request: Request; body: typeof CreateKeyBody.static },
) {
  const { name = null, scope = "write" } = body;
  if (name !== null) rejectUnreadable("name", name);
  const expiresAt = body.expiresAt === undefined ? null : parseExpiry(body.expiresAt);
  const { secret, prefix, hash } = mintApiKey();
  const { userId } = caller;
  const row = await sql.begin(async (tx) => {
    const orgId = await findKeyOrgId(tx, caller, body.organization);
    await requireRoomForKey(tx, userId);
    const key = { userId, orgId, kind: "user", scope, name, prefix, keyHash: hash, expiresAt } as const;
    const inserted = await insertApiKey(tx, key);
    await insertAuditEntry(tx, {
      ...auditActor(request, caller),
      action: "key.create",
      subjectType: "api_key",
      subjectId: inserted.id,
      orgId,
      details: { prefix, kind: "user", scope, expiresAt },
    });
    return inserted;
  });
  return { key: secret, apiKey: presentKey(row) };
}

/** Revokes a key and writes an audit entry. Another user's key is indistinguishable from one that does not exist. */
async function revokeKey(
  { sql, callers }: Pick<AuthDeps, "sql" | "callers">,
  { caller, request, id }: { caller: Caller; request: Request; id: string },
): Promise<void> {
  const revoked =
    isUuid(id) &&
    (await sql.begin(async (tx) => {
      const key = await markOwnApiKeyRevoked(tx, { id, userId: caller.userId });
      if (!key) return null;
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "key.revoke",
        subjectType: "api_key",
        subjectId: key.id,
        orgId: key.orgId,
      });
      return key;
    }));
  if (revoked) return callers.forget(revoked.id);
  throw new ApiError("NOT_FOUND", {
    message: "API key not found. List your keys with GET /api/v1/auth/keys.",
    details: { reason: "key" },
  });
}

export function keyRoutes(deps: Pick<AuthDeps, "sql" | "callers">) {
  return new Elysia()
    .use(access)
    .get(
      "/keys",
      async ({ caller }) => {
        const rows = await listApiKeys(deps.sql, caller.userId);
        return { data: { keys: rows.map((row) => presentKey(row)) } };
      },
      {
        access: "session",
        response: { 200: KeyList },
        detail: {
          tags: [AUTH_TAG],
          operationId: "listKeys",
          summary: "List your API keys",
          description: "Newest first. Includes expired keys; revoked keys are left out.",
        },
      },
    )
    .post(
      "/keys",
      async ({ caller, request, body, status }) =>
        status(201, { data: await createKey(deps, { caller, request, body: body ?? {} }) }),
      {
        access: "session",
        body: t.Optional(CreateKeyBody),
        response: { 201: CreatedKey },
        detail: {
          tags: [AUTH_TAG],
          operationId: "createKey",
          summary: "Create an API key",
          description:
            "The response contains the key; it is not shown again. The key is of kind `user` and works for all your " +
            "organizations, or only for the one in `organization`. You can have at most 100 active keys.",
          ...holdsSecret(),
          ...failsWith(["QUOTA_EXCEEDED", { quota: "keys", limit: LIVE_KEYS_MAX }], "ORG_ACCESS_DENIED"),
        },
      },
    )
    .delete(
      "/keys/:id",
      async ({ caller, request, params }) => {
        await revokeKey(deps, { caller, request, id: params.id });
        return new Response(null, { status: 204 });
      },
      {
        access: "session",
        params: KeyParams,
        detail: {
          tags: [AUTH_TAG],
          operationId: "revokeKey",
          summary: "Revoke one of your API keys",
          description: "The key stops working within one second.",
          responses: { 204: { description: "Revoked" } },
          ...failsWith(["NOT_FOUND", { reason: "key" }]),
        },
      },
    );
}
