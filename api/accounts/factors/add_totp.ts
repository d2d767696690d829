/** POST /auth/factors/totp and /confirm: adds an authenticator app, once it has shown a right code. */
import { Type } from "@sinclair/typebox";
import type { ApiError } from "../../../shared/errors.ts";
import {
  countWrongTry,
  deleteChallenge,
  lockSessionChallenge,
  upsertSessionChallenge,
} from "../../../sql/accounts/factor_challenges.ts";
import { insertTotpFactor, type SecondFactorRow } from "../../../sql/accounts/second_factors.ts";
import { notFound } from "../../http/not_found.ts";
import { operation, reply } from "../../http/operation.ts";
import { data, Instant, requestBody } from "../../http/schemas.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { checkTexts, lineProblem } from "../profile_fields.ts";
import { requireProof } from "../require_proof.ts";
import { OWN_ACCOUNT } from "../schemas.ts";
import { beginAddition, finishAddition, lockCaller, requireRoomForFactor } from "./change_factors.ts";
import { AddedFactor, CurrentPassword, FACTORS_FULL, FactorName } from "./factor_schemas.ts";
import { findTotpStep, mintTotpSecret, toBase32, totpUri } from "./totp.ts";

/** Time to take out the phone and install an app. */
const MINUTES = 15;
const TRIES_MAX = 10;

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
    const { email, expiresAt } = await deps.sql.begin(async (tx) => {
      const user = await beginAddition(tx, { caller, request, kind: "totp" });
      const challenge = {
        userId: user.id,
        sessionId: caller.credential.id,
        purpose: "add_totp",
        secret,
      } as const;
      return {
        email: user.email,
        expiresAt: await upsertSessionChallenge(tx, { ...challenge, minutes: MINUTES }),
      };
    });
    const { host } = new URL(deps.config.publicUrl);
    return reply(201, {
      data: { secret: toBase32(secret), uri: totpUri(secret, { host, email }), expiresAt },
    });
  },
);

type Confirmation = { factor: SecondFactorRow; recoveryCodes: string[] | null } | "wrong" | "expired";

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
    checkTexts({ name }, { name: lineProblem });
    const code = body.code.replaceAll(/\s/g, "");
    const { now = Date.now } = deps;
    const result = await deps.sql.begin<Promise<Confirmation>>(async (tx) => {
      await lockCaller(tx, caller);
      const key = { sessionId: caller.credential.id, purpose: "add_totp" } as const;
      const challenge = await lockSessionChallenge(tx, key);
      if (!challenge?.secret) return "expired";
      const { id, secret } = challenge;
      const step = findTotpStep(code, { secret, after: 0, now: now() });
      if (step === null) {
        await countWrongTry(tx, { id, limit: TRIES_MAX });
        return "wrong";
      }
      await requireRoomForFactor(tx, caller);
      await deleteChallenge(tx, id);
      const factor = await insertTotpFactor(tx, { userId: caller.userId, name, secret, lastStep: step });
      return { factor, recoveryCodes: await finishAddition(tx, deps, { caller, request, factor }) };
    });
    if (result === "expired") throw notFound("secret");
    if (result === "wrong") throw wrongCode();
    deps.callers.forget(caller.userId);
    return reply(201, { data: result });
  },
);

function wrongCode(): ApiError {
  return invalidField(
    "code",
    "is wrong: enter the code that the app shows now, and check the clock of its device",
  );
}
