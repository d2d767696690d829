/** GET, POST and DELETE /auth/keys: the caller's own API keys. Requires a session. */
import { Type } from "@sinclair/typebox";
import { parseInstant } from "../../shared/instant.ts";
import {
  data,
  Instant,
  listOf,
  Nullable,
  NullableInstant,
  NullableText,
  requestBody,
  Uuid,
} from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { listApiKeys } from "../../sql/accounts/api_keys.ts";
import { listMemberships } from "../../sql/accounts/organization_members.ts";
import { existsSecondFactor } from "../../sql/accounts/second_factors.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";
import { invalidField } from "../http/validation_problems.ts";
import { issueKey, LIVE_KEYS_MAX, revokeApiKey } from "./key_changes.ts";
import { NAME_MAX_LENGTH } from "./profile_fields.ts";
import { requireRecentFactor } from "./require_proof.ts";
import { EXAMPLE_SESSION, KeyKindSchema, KeyScopeSchema, OWN_ACCOUNT } from "./schemas.ts";

const EXAMPLE_KEY = {
  id: "9d0a2f52-61c4-4f57-8d3b-1f2f9d3e7a10",
  name: "Nightly report",
  prefix: "ulr_aB3dEf6h",
  kind: "user",
  scope: "read",
  organizationId: null,
  lastUsedAt: null,
  expiresAt: EXAMPLE_SESSION.expiresAt,
  createdAt: "2026-11-20T10:00:00.000Z",
} as const;

const ApiKey = Type.Object(
  {
    id: Uuid(),
    name: NullableText,
    prefix: Type.String({ description: "The first characters of the key" }),
    kind: KeyKindSchema,
    scope: KeyScopeSchema,
    organizationId: Nullable(Uuid(), {
      description: "The only organization the key works for; null for all of its owner's",
    }),
    lastUsedAt: NullableInstant,
    expiresAt: NullableInstant,
    createdAt: Instant(),
  },
  { title: "ApiKey", examples: [EXAMPLE_KEY] },
);

const KeyList = data({ keys: listOf(ApiKey) }, "Newest first; revoked keys are left out");

export const listKeys = operation(
  {
    ...OWN_ACCOUNT,
    id: "listKeys",
    method: "GET",
    path: "/api/v1/auth/keys",
    summary: "List your API keys",
    description: "Newest first. Includes expired keys; revoked keys are left out.",
    response: { 200: KeyList },
  },
  async ({ caller }, { sql }) => {
    return reply(200, { data: { keys: await listApiKeys(sql, caller.userId) } });
  },
);

const NewApiKey = requestBody(
  "NewApiKey",
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: NAME_MAX_LENGTH, description: "What the key is for" }),
    ),
    scope: Type.Optional(KeyScopeSchema),
    expiresAt: Type.Optional(
      Type.String({
        description: "ISO 8601 instant with an offset, in the future. Omitted: the key does not expire.",
      }),
    ),
    organization: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 63,
        description:
          "Slug of the only organization the key works for. You must be a member. Omitted: all your organizations.",
      }),
    ),
  },
  { name: EXAMPLE_KEY.name, scope: EXAMPLE_KEY.scope },
);

const CreatedKey = data(
  {
    key: Type.String({
      description: "The key. It is not shown again.",
      examples: ["ulr_aB3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe0fGh33leW18"],
    }),
    apiKey: ApiKey,
  },
  "Created",
);

export const createKey = operation(
  {
    ...OWN_ACCOUNT,
    id: "createKey",
    method: "POST",
    path: "/api/v1/auth/keys",
    summary: "Create an API key",
    description:
      "The response contains the key; it is not shown again. The key is of kind `user` and works for all your " +
      "organizations, or only for the one in `organization`. You can have at most 100 active keys. If you have a second factor, " +
      "or one of these organizations requires it, the session must have used one within 15 minutes.",
    body: NewApiKey,
    response: { 201: CreatedKey },
    secret: true,
    fails: [
      ["QUOTA_EXCEEDED", { quota: "keys", limit: LIVE_KEYS_MAX }],
      "ORG_ACCESS_DENIED",
      "SECOND_FACTOR_REQUIRED",
    ],
  },
  async ({ caller, request, body }, deps) => {
    const { name = null, scope = "write", organization = null } = body;
    const expiresAt = body.expiresAt === undefined ? null : parseExpiry(body.expiresAt);
    const { userId, username } = caller;
    const { secret, row } = await deps.writeAccountInTurn(request, async (tx) => {
      const memberships = await listMemberships(tx, userId);
      const isRequired = memberships
        .filter(({ slug }) => organization === null || slug === organization)
        .some(({ requireSecondFactor }) => requireSecondFactor);
      // Requests with the key need no second factor, so creating the key requires one.
      if (isRequired || (await existsSecondFactor(tx, userId))) await requireRecentFactor(tx, caller);
      return issueKey(tx, {
        user: { id: userId, username },
        kind: "user",
        scope,
        name,
        organization,
        expiresAt,
        actor: auditActor(request, caller),
      });
    });
    return reply(201, { data: { key: secret, apiKey: row } });
  },
);

export const revokeKey = operation(
  {
    ...OWN_ACCOUNT,
    id: "revokeKey",
    method: "DELETE",
    path: "/api/v1/auth/keys/{id}",
    summary: "Revoke one of your API keys",
    description: "The key stops working within one second.",
    params: { id: Type.String({ description: "The key's id, not the key", examples: [EXAMPLE_KEY.id] }) },
    response: { 204: null },
    fails: [["NOT_FOUND", { reason: "key" }]],
  },
  async ({ caller, request, params: { id } }, deps) => {
    const own = { id, userId: caller.userId, actor: auditActor(request, caller) };
    const revoked = isUuid(id) ? await deps.writeAccountInTurn(request, (tx) => revokeApiKey(tx, own)) : null;
    if (!revoked) throw notFound("key");
    deps.callers.forget(revoked.id);
    return reply(204, null);
  },
);

/** Parses the expiry of a user's new key. Only operators can create a key that has already expired. */
function parseExpiry(value: string): string {
  const expiresAt = parseInstant(value);
  if (!expiresAt) throw invalidField("expiresAt", "must be an ISO 8601 instant with an offset");
  if (Date.parse(expiresAt) > Date.now()) return expiresAt;
  throw invalidField("expiresAt", "must be in the future");
}
