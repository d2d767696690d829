/** Schemas of second factors. */
import { Type } from "@sinclair/typebox";
import { Instant, listOf, Nullable, oneOf, Text, Uuid } from "../../../shared/schemas.ts";
import { FACTOR_KINDS } from "../../../shared/vocabulary.ts";

/** Factors per user. The limit bounds the number of secrets that a sign-in compares a code with. */
export const FACTORS_MAX = 10;
export const FACTORS_FULL = ["QUOTA_EXCEEDED", { quota: "factors", limit: FACTORS_MAX }] as const;

const NAME_MAX_LENGTH = 100;

const EXAMPLE_FACTOR = {
  id: "7b1f4f0a-93c2-4b8e-8f55-0d5c3f0f2a61",
  kind: "totp",
  name: "Phone",
  createdAt: "2026-11-20T10:00:00.000Z",
  lastUsedAt: "2026-11-25T08:30:00.000Z",
};

export const Factor = Type.Object(
  {
    id: Uuid(),
    kind: oneOf(FACTOR_KINDS, { description: "`totp` is an authenticator app" }),
    name: Text,
    createdAt: Instant(),
    lastUsedAt: Nullable(Instant()),
  },
  { title: "SecondFactor", examples: [EXAMPLE_FACTOR] },
);

export const FactorName = Type.String({
  minLength: 1,
  maxLength: NAME_MAX_LENGTH,
  description: "Your name for it",
  examples: [EXAMPLE_FACTOR.name],
});

export const RecoveryCodes = listOf(Type.String({ examples: ["k7qm-2p9x-w4td-r0ea"] }), {
  description: "Each code replaces a second factor once. They are not shown again.",
});

/** Fields of the response to adding a factor. */
export const AddedFactor = {
  factor: Factor,
  recoveryCodes: Nullable(RecoveryCodes, {
    description: "With your first factor; null if you already have codes",
  }),
};

/** The user's password, required to add the first factor. */
export const CurrentPassword = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1024,
    description: "Your password, if you have no second factor yet",
  }),
);

/** A WebAuthn object in its JSON form. */
export const WebAuthnJson = Type.Record(Type.String(), Type.Unknown(), { examples: [{}] });

/** Body limit for a passkey's response. Chromium sends up to 6 KiB, because its keys may be ML-DSA-44. */
export const PASSKEY_MAX_BYTES = 32_768;

/** JSON text without a schema, because browsers add fields as the standard evolves. */
export const PasskeyText = Type.String({
  minLength: 1,
  maxLength: 16_384,
  description: "`JSON.stringify()` of the `PublicKeyCredential` that the browser returns",
});
