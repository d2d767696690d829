/** The access table's rows about second factors. */

import { hashRecoveryCode, mintRecoveryCodes } from "../../../api/accounts/factors/recovery_code.ts";
import { hashSecret, mintLoginToken } from "../../../api/http/credentials.ts";
import { insertPendingSignIn } from "../../../sql/accounts/factor_challenges.ts";
import {
  insertPasskey,
  insertTotpFactor,
  replaceRecoveryCodes,
} from "../../../sql/accounts/second_factors.ts";
import { ORIGIN } from "../accounts/factors.ts";
import { PasskeyDevice } from "../accounts/passkey_device.ts";
import { codeOfStep } from "../accounts/totp_code.ts";
import { row } from "./access_rows.ts";
import { knownPassword, type Occasion, type Subject } from "./access_scene.ts";

const SECRET = Buffer.from("12345678901234567890");
const CHALLENGE = "AAAAAAAAAAAAAAAAAAAAAA";

/** Replaces the caller's second factors with a new TOTP factor, and returns the factor's id. */
const ownFactor: Subject = async ({ scene, userId }) => {
  const { sql } = scene.api.db;
  await sql`delete from second_factors where user_id = ${userId}`;
  return (await insertTotpFactor(sql, { userId, name: "App", secret: SECRET, lastStep: 0 })).id;
};

const foreignFactor: Subject = async (occasion) =>
  ownFactor({ ...occasion, userId: (await occasion.scene.api.make.user()).id });

const ownPasskey: Subject = async ({ scene, userId }) => {
  await scene.api.db.sql`delete from second_factors where user_id = ${userId}`;
  const credentialId = Buffer.from(crypto.randomUUID());
  const key = { name: "Key", credentialId, publicKey: Buffer.from("x"), signCount: 0, transports: [] };
  await insertPasskey(scene.api.db.sql, { ...key, userId });
  return "";
};

/** Gives the caller a factor and a recovery code, and returns the code. */
const recoveryCode: Subject = async (occasion) => {
  await ownFactor(occasion);
  const [code = ""] = mintRecoveryCodes();
  const { scene, userId } = occasion;
  await replaceRecoveryCodes(scene.api.db.sql, { userId, hashes: [hashRecoveryCode(code)] });
  return code;
};

/** Deletes the caller's factors and starts adding a factor in the caller's newest session. */
async function begin({ scene, userId }: Occasion, purpose: "add_totp" | "add_passkey"): Promise<string> {
  const { sql } = scene.api.db;
  const secret = purpose === "add_totp" ? SECRET : null;
  const challengeHash = purpose === "add_totp" ? null : hashSecret(CHALLENGE);
  await sql`delete from second_factors where user_id = ${userId}`;
  await sql`
    insert into factor_challenges (user_id, session_id, purpose, secret, challenge_hash, expires_at)
    select user_id, id, ${purpose}, ${secret}, ${challengeHash}, now() + interval '5 minutes'
    from sessions
    where user_id = ${userId}
    order by created_at desc
    limit 1
    on conflict on constraint factor_challenges_session_id_purpose_key do nothing`;
  return "";
}

/**
 * Starts a sign-in of a new user who has a passkey and a recovery code. Returns the login token and the code, separated
 * by a space.
 */
const pendingSignIn: Subject = async (occasion) => {
  const { make, db } = occasion.scene.api;
  const passwordHash = "!";
  const user = await make.user({ passwordHash });
  const code = await recoveryCode({ ...occasion, userId: user.id });
  await ownPasskey({ ...occasion, userId: user.id });
  const { secret, hash } = mintLoginToken();
  await insertPendingSignIn(db.sql, { userId: user.id, tokenHash: hash, passwordHash, minutes: 5 });
  return `${secret} ${code}`;
};

const PATH = "/auth/factors";

export const FACTORS = [
  row("POST /auth/login/second-factor/options", "everyone", 200, {
    of: pendingSignIn,
    body: (given) => ({ loginToken: given.split(" ")[0] }),
  }),
  row("POST /auth/login/second-factor", "everyoneToWrite", 200, {
    of: pendingSignIn,
    body: (given) => ({ loginToken: given.split(" ")[0], code: given.split(" ")[1] }),
    audit: "session.create",
  }),
  row(`GET ${PATH}`, "sessions", 200),
  row(`POST ${PATH}/totp`, "sessions", 201, {
    of: knownPassword,
    body: (password) => ({ password }),
    audit: "factor.begin",
  }),
  row(`POST ${PATH}/totp/confirm`, "sessions", 201, {
    of: (occasion) => begin(occasion, "add_totp"),
    body: (_, { scene }) => ({
      name: "App",
      code: codeOfStep(SECRET, Math.floor(scene.holdClock() / 30_000)),
    }),
    audit: "factor.add",
  }),
  row(`POST ${PATH}/passkeys/options`, "sessions", 201, {
    of: knownPassword,
    body: (password) => ({ password }),
    audit: "factor.begin",
  }),
  row(`POST ${PATH}/passkeys`, "sessions", 201, {
    of: (occasion) => begin(occasion, "add_passkey"),
    body: () => ({
      name: "Key",
      passkey: new PasskeyDevice().create({ challenge: CHALLENGE, origin: ORIGIN }),
    }),
    audit: "factor.add",
  }),
  row(`PATCH ${PATH}/:id`, "sessions", 200, {
    of: ownFactor,
    body: () => ({ name: "Phone" }),
    audit: "factor.rename",
  }),
  row(`PATCH ${PATH}/:id`, "sessionsOfOthers", 200, {
    about: "somebody else's",
    of: foreignFactor,
    body: () => ({ name: "Phone" }),
  }),
  row(`DELETE ${PATH}/:id`, "sessions", 204, { of: ownFactor, audit: "factor.remove" }),
  row(`DELETE ${PATH}/:id`, "sessionsOfOthers", 204, { about: "somebody else's", of: foreignFactor }),
  row(`POST ${PATH}/recovery-codes`, "sessions", 201, { of: ownFactor, audit: "factor.renew_codes" }),
  row(`POST ${PATH}/verify/options`, "sessions", 200, { of: ownPasskey }),
  row(`POST ${PATH}/verify`, "sessions", 200, {
    of: recoveryCode,
    body: (code) => ({ code }),
    audit: "factor.use",
  }),
];
