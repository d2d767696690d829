/** POST /auth/factors/passkeys/options and /auth/factors/passkeys: adds a passkey. */
import {
  deleteChallenge,
  lockSessionChallenge,
  upsertSessionChallenge,
} from "../../../sql/accounts/factor_challenges.ts";
import { insertPasskey, lockPasskeys, type SecondFactorRow } from "../../../sql/accounts/second_factors.ts";
import { notFound } from "../../http/not_found.ts";
import { operation, reply } from "../../http/operation.ts";
import { data, Instant, requestBody } from "../../http/schemas.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { checkTexts, lineProblem } from "../profile_fields.ts";
import { requireProof } from "../require_proof.ts";
import { OWN_ACCOUNT } from "../schemas.ts";
import { beginAddition, finishAddition, lockCaller, requireRoomForFactor } from "./change_factors.ts";
import {
  AddedFactor,
  CurrentPassword,
  FACTORS_FULL,
  FactorName,
  PASSKEY_MAX_BYTES,
  PasskeyText,
  WebAuthnJson,
} from "./factor_schemas.ts";
import { passkeyCreation, readNewPasskey } from "./passkeys.ts";

const MINUTES = 5;

export const beginPasskey = operation(
  {
    ...OWN_ACCOUNT,
    id: "beginPasskey",
    method: "POST",
    path: "/api/v1/auth/factors/passkeys/options",
    summary: "Start adding a passkey",
    description:
      "Returns the options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. They work once, for 5 minutes, in the " +
      "same session. Requires your password or, if you have a second factor, one used within 15 minutes.",
    body: requestBody("PasskeyStart", { password: CurrentPassword }, {}),
    response: { 201: data({ options: WebAuthnJson, expiresAt: Instant() }, "The options") },
    secret: true,
    fails: ["SECOND_FACTOR_REQUIRED", FACTORS_FULL, "SERVICE_UNAVAILABLE"],
  },
  async ({ caller, request, body }, deps) => {
    await requireProof(deps, { caller, request, password: body.password });
    const { userId, credential } = caller;
    const begun = await deps.sql.begin(async (tx) => {
      const user = await beginAddition(tx, { caller, request, kind: "passkey" });
      const passkeys = await lockPasskeys(tx, userId);
      const { options, challengeHash } = await passkeyCreation(deps.config, { ...user, passkeys });
      const challenge = { userId, sessionId: credential.id, purpose: "add_passkey", challengeHash } as const;
      return { options, expiresAt: await upsertSessionChallenge(tx, { ...challenge, minutes: MINUTES }) };
    });
    return reply(201, { data: begun });
  },
);

type Registration =
  | { factor: SecondFactorRow; recoveryCodes: string[] | null }
  | "wrong"
  | "expired"
  | "taken";

export const addPasskey = operation(
  {
    ...OWN_ACCOUNT,
    id: "addPasskey",
    method: "POST",
    path: "/api/v1/auth/factors/passkeys",
    summary: "Add a passkey",
    description:
      "Takes the browser's response to the options. From now on, signing in requires a second factor. Ends your other " +
      "sessions. Your first factor comes with ten recovery codes.",
    maxBodyBytes: PASSKEY_MAX_BYTES,
    body: requestBody(
      "NewPasskey",
      {
        name: FactorName,
        passkey: PasskeyText,
      },
      { name: "Security key", passkey: "{}" },
    ),
    response: { 201: data(AddedFactor, "The passkey is added") },
    secret: true,
    fails: [FACTORS_FULL, ["NOT_FOUND", { reason: "options" }]],
  },
  async ({ caller, request, body: { name, passkey } }, deps) => {
    checkTexts({ name }, { name: lineProblem });
    const { userId, credential } = caller;
    const result = await deps.sql.begin<Promise<Registration>>(async (tx) => {
      await lockCaller(tx, caller);
      const challenge = await lockSessionChallenge(tx, { sessionId: credential.id, purpose: "add_passkey" });
      if (!challenge?.challengeHash) return "expired";
      // Also for a wrong response: options work once.
      await deleteChallenge(tx, challenge.id);
      const { challengeHash } = challenge;
      const made = await readNewPasskey(deps.config, { response: passkey, challengeHash });
      if (!made) return "wrong";
      await requireRoomForFactor(tx, caller);
      const factor = await insertPasskey(tx, { ...made, userId, name });
      if (!factor) return "taken";
      return { factor, recoveryCodes: await finishAddition(tx, deps, { caller, request, factor }) };
    });
    if (result === "expired") throw notFound("options");
    if (result === "wrong") throw invalidField("passkey", "is not a response to these options");
    if (result === "taken") throw invalidField("passkey", "is already registered");
    deps.callers.forget(userId);
    return reply(201, { data: result });
  },
);
