/** Schemas and examples of the key routes. */
import { t } from "elysia";
import { NullableInstant } from "../http/schemas.ts";
import { EXAMPLE_SESSION, KeyKindSchema, KeyScopeSchema } from "./auth_schemas.ts";

export const EXAMPLE_KEY_ID = "9d0a2f52-61c4-4f57-8d3b-1f2f9d3e7a10";

const EXAMPLE_KEY = {
  id: EXAMPLE_KEY_ID,
  name: "Nightly report",
  prefix: "ulr_aB3dEf6h",
  kind: "user",
  scope: "read",
  organizationId: null,
  lastUsedAt: null,
  expiresAt: EXAMPLE_SESSION.expiresAt,
  createdAt: "2026-11-20T10:00:00.000Z",
};

const ApiKey = t.Object(
  {
    id: t.String({ format: "uuid" }),
    name: t.Union([t.String(), t.Null()]),
    prefix: t.String({ description: "The first characters of the key" }),
    kind: KeyKindSchema,
    scope: KeyScopeSchema,
    organizationId: t.Union([t.String({ format: "uuid" }), t.Null()], {
      description: "The only organization the key works for; null for all of its owner's",
    }),
    lastUsedAt: NullableInstant,
    expiresAt: NullableInstant,
    createdAt: t.String({ format: "date-time" }),
  },
  { title: "ApiKey" },
);

export const KeyList = t.Object(
  { data: t.Object({ keys: t.Array(ApiKey) }) },
  { description: "Newest first; revoked keys are left out", examples: [{ data: { keys: [EXAMPLE_KEY] } }] },
);

export const CreateKeyBody = t.Object(
  {
    name: t.Optional(t.String({ minLength: 1, maxLength: 200, description: "What the key is for" })),
    scope: t.Optional(KeyScopeSchema),
    expiresAt: t.Optional(
      t.String({
        description: "ISO 8601 instant with an offset, in the future. Omitted: the key does not expire.",
      }),
    ),
    organization: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 63,
        description:
          "Slug of the only organization the key works for. You must be a member. Omitted: all your organizations.",
      }),
    ),
  },
  {
    title: "NewApiKey",
    additionalProperties: false,
    examples: [{ name: EXAMPLE_KEY.name, scope: EXAMPLE_KEY.scope }],
  },
);

export const CreatedKey = t.Object(
  {
    data: t.Object({
      key: t.String({ description: "The key. It is not shown again." }),
      apiKey: ApiKey,
    }),
  },
  {
    description: "Created",
    examples: [
      { data: { key: "ulr_aB3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe0fGh33leW18", apiKey: EXAMPLE_KEY } },
    ],
  },
);
