/** POST /auth/factors/totp and /auth/factors/passkeys: adds a second factor. The second of two steps proves that it works. */
import { Type } from "@sinclair/typebox";
import { data, Instant, requestBody } from "../../../shared/schemas.ts";
import {
  countWrongTry,
  deleteChallenge,
  lockSessionChallenge,
  upsertSessionChallenge,
} from "../../../sql/accounts/factor_challenges.ts";
import { insertPasskey, insertTotpFactor, lockPasskeys } from "../../../sql/accounts/second_factors.ts";
import { operation, reply } from "../../http/operation.ts";
import { notFound } from "../../http/require_visible.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { checkTexts, labelProblem } from "../profile_fields.ts";
import { lockCaller, requireProof } from "../require_proof.ts";
import { OWN_ACCOUNT } from "../schemas.ts";
import { beginAddition, finishAddition, requireRoomForFactor } from "./change_factors.ts";
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
import { findTotpStep, mintTotpSecret, toBase32, totpUri } from "./totp.ts";

const TOTP_TRIES_MAX = 10;
const WRONG_CODE = "is wrong: enter the code that the app shows now, and check the clock of its device";

export const beginTotp = operation(
  {
    ...OWN_ACCOUNT,
    id: "beginTotp",
    method: "POST",
    path: "/api/v1/auth/factors/totp",
    summary: "Start adding an authenticator app",
    description:
      "Returns a secret for the app. Confirm it with a code from the app within 15 minutes, in the same session. Requires your " +
      "password or, if you have a second factor, one used within 15 minutes.",
    body: requestBody("TotpStart", { password: CurrentPassword }, {}),
    response: {
      201: data(
        {
          secret: Type.String({
            description: "In base 32, to type into the app",
            examples: ["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"],
          }),
          uri: Type.String({
            description: "For a QR code",
            examples: [
              "otpauth://totp/ulr.example:you%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
            ],
          }),
          expiresAt: Instant(),
        },
        "The secret, which is not shown again",
      ),
    },
    secret: true,
    fails: ["SECOND_FACTOR_REQUIRED", FACTORS_FULL, "SERVICE_UNAVAILABLE"],
  },
  async ({ caller, request, body }, deps) => {
    await requireProof(deps, { caller, request, password: body.password });
    const secret = mintTotpSecret();
    const { userId, credential } = caller;
    const { email, expiresAt } = await deps.writeAccountInTurn(request, async (tx) => {
      const { email } = await beginAddition(tx, { caller, request, kind: "totp" });
      const challenge = { userId, sessionId: credential.id, purpose: "add_totp", secret } as const;
      return { email, expiresAt: await upsertSessionChallenge(tx, challenge) };
    });
    const { host } = new URL(deps.config.publicUrl);
    return reply(201, {
      data: { secret: toBase32(secret), uri: totpUri(secret, { host, email }), expiresAt },
    });
  },
);

export const confirmTotp = operation(
  {
    ...OWN_ACCOUNT,
    id: "confirmTotp",
    method: "POST",
    path: "/api/v1/auth/factors/totp/confirm",
    summary: "Add an authenticator app",
    description:
      "Takes a code from the app. From now on, signing in requires a second factor. Ends your other sessions. Your first factor " +
      "comes with ten recovery codes.",
    body: requestBody(
      "TotpConfirmation",
      { name: FactorName, code: Type.String({ minLength: 6, maxLength: 16, description: "Six digits" }) },
      { name: "Phone", code: "287082" },
    ),
    response: { 201: data(AddedFactor, "The app is added") },
    secret: true,
    fails: [FACTORS_FULL, ["NOT_FOUND", { reason: "secret" }]],
  },
  async ({ caller, request, body }, deps) => {
    const { name } = body;
    checkTexts({ name }, { name: labelProblem });
    const code = body.code.replaceAll(/\s/g, "");
    const result = await deps.writeAccountInTurn(request, async (tx) => {
      const user = await lockCaller(tx, caller);
      const key = { sessionId: caller.credential.id, purpose: "add_totp" } as const;
      const challenge = await lockSessionChallenge(tx, key);
      if (!challenge?.secret) throw notFound("secret");
      const { id, secret, nowMs } = challenge;
      const step = findTotpStep(code, { secret, after: 0, now: deps.now?.() ?? nowMs });
      if (step === null) {
        await countWrongTry(tx, { id, limit: TOTP_TRIES_MAX });
        return null;
      }
      await requireRoomForFactor(tx, caller);
      await deleteChallenge(tx, id);
      const factor = await insertTotpFactor(tx, { userId: caller.userId, name, secret, lastStep: step });
      return finishAddition(tx, deps, { caller, request, user, factor });
    });
    if (result === null) throw invalidField("code", WRONG_CODE);
    deps.callers.forget(caller.userId);
    return reply(201, { data: result });
  },
);

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
    const begun = await deps.writeAccountInTurn(request, async (tx) => {
      const user = await beginAddition(tx, { caller, request, kind: "passkey" });
      const passkeys = await lockPasskeys(tx, userId);
      const { options, challengeHash } = await passkeyCreation(deps.config, { ...user, passkeys });
      const challenge = { userId, sessionId: credential.id, purpose: "add_passkey", challengeHash } as const;
      return { options, expiresAt: await upsertSessionChallenge(tx, challenge) };
    });
    return reply(201, { data: begun });
  },
);

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
      { name: FactorName, passkey: PasskeyText },
      { name: "Security key", passkey: "{}" },
    ),
    response: { 201: data(AddedFactor, "The passkey is added") },
    secret: true,
    fails: [FACTORS_FULL, ["NOT_FOUND", { reason: "options" }]],
  },
  async ({ caller, request, body: { name, passkey } }, deps) => {
    checkTexts({ name }, { name: labelProblem });
    const { userId, credential } = caller;
    const result = await deps.writeAccountInTurn(request, async (tx) => {
      const user = await lockCaller(tx, caller);
      const challenge = await lockSessionChallenge(tx, { sessionId: credential.id, purpose: "add_passkey" });
      if (!challenge?.challengeHash) throw notFound("options");
      // Options work once, even if the response is wrong.
      await deleteChallenge(tx, challenge.id);
      const { challengeHash } = challenge;
      const made = await readNewPasskey(deps.config, { response: passkey, challengeHash });
      if (!made) return "wrong";
      await requireRoomForFactor(tx, caller);
      const factor = await insertPasskey(tx, { ...made, userId, name });
      if (!factor) return "taken";
      return finishAddition(tx, deps, { caller, request, user, factor });
    });
    if (result === "wrong") throw invalidField("passkey", "is not a response to these options");
    if (result === "taken") throw invalidField("passkey", "is already registered");
    deps.callers.forget(userId);
    return reply(201, { data: result });
  },
);
