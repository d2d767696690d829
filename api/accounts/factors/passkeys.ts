/** Passkeys (WebAuthn): the options sent to browsers, and their responses. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { NewPasskey, PasskeyRow } from "../../../sql/accounts/second_factors.ts";
import { hashSecret } from "../../http/credentials.ts";

type SiteConfig = Pick<Config, "publicUrl">;
/** The types of transports are a list of words that grows. */
type Transports = NonNullable<RegistrationResponseJSON["response"]["transports"]>;

/** The library takes a tenth of a second to load, so it is imported when it is first used, not by every start. */
const loadWebAuthn = () => import("@simplewebauthn/server");

/** Passkeys belong to the host of PUBLIC_URL, and work on its pages only. */
function siteOf({ publicUrl }: SiteConfig) {
  const { origin, hostname } = new URL(publicUrl);
  return { expectedOrigin: origin, expectedRPID: hostname };
}

/** Whether a response is for the challenge with this hash. */
function isChallenge(challengeHash: Uint8Array): (challenge: string) => boolean {
  return (challenge) => hashSecret(challenge).equals(challengeHash);
}

/** Returns what `navigator.credentials.create()` gets, and the hash of its challenge. */
export async function passkeyCreation(
  config: SiteConfig,
  user: { id: string; email: string; username: string; passkeys: readonly PasskeyRow[] },
) {
  const { expectedRPID: rpID } = siteOf(config);
  const { generateRegistrationOptions } = await loadWebAuthn();
  const options = await generateRegistrationOptions({
    rpName: rpID,
    rpID,
    userID: Uint8Array.from(Buffer.from(user.id.replaceAll("-", ""), "hex")),
    userName: user.email,
    userDisplayName: user.username,
    attestationType: "none",
    excludeCredentials: user.passkeys.map(describePasskey),
    // The password names the account, so the device need not remember it.
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  });
  return { options: { ...options }, challengeHash: hashSecret(options.challenge) };
}

/** Returns what `navigator.credentials.get()` gets, and the hash of its challenge. Throws for a user without passkeys. */
export async function passkeyRequest(config: SiteConfig, passkeys: readonly PasskeyRow[]) {
  if (passkeys.length === 0) {
    throw new ApiError("UNPROCESSABLE_ENTITY", {
      message: TEXTS.UNPROCESSABLE_ENTITY.noPasskey,
      details: { reason: "no passkey" },
    });
  }
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(config).expectedRPID,
    allowCredentials: passkeys.map(describePasskey),
    userVerification: "preferred",
  });
  return { options: { ...options }, challengeHash: hashSecret(options.challenge) };
}

function describePasskey({ credentialId, transports }: PasskeyRow) {
  const id = Buffer.from(credentialId).toString("base64url");
  return { id, transports: transports as Transports };
}

/** Returns the passkey that a browser has made; null if the response is not one to the challenge. */
export async function readNewPasskey(
  config: SiteConfig,
  { response, challengeHash }: { response: string; challengeHash: Uint8Array },
): Promise<Omit<NewPasskey, "userId" | "name"> | null> {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...siteOf(config),
      // The library checks every field that it reads.
      response: JSON.parse(response) as RegistrationResponseJSON,
      expectedChallenge: isChallenge(challengeHash),
      requireUserVerification: false,
    });
    if (!verified) return null;
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return {
      credentialId: Buffer.from(id, "base64url"),
      publicKey: Buffer.from(publicKey),
      signCount: counter,
      transports: transports.map(String).slice(0, 10),
    };
  } catch {
    // The library throws for everything that a response can have wrong.
    return null;
  }
}

/** The verdict on a passkey's signature: right, wrong, or from a copy of the passkey. */
type PasskeyVerdict = { result: "right"; id: string; signCount: number } | { result: "wrong" | "copied" };

/** Checks the response of one of the passkeys. */
export async function checkPasskey(
  config: SiteConfig,
  options: { response: string; challengeHash: Uint8Array; passkeys: readonly PasskeyRow[] },
): Promise<PasskeyVerdict> {
  const { response, challengeHash, passkeys } = options;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  try {
    // The library checks every field that it reads.
    const parsed = JSON.parse(response) as AuthenticationResponseJSON;
    const passkey = passkeys.find((one) => describePasskey(one).id === parsed.id);
    if (!passkey) return { result: "wrong" };
    const { id, publicKey, signCount } = passkey;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...siteOf(config),
      response: parsed,
      expectedChallenge: isChallenge(challengeHash),
      // Its own comparison of counters throws like any other mistake; ours is below.
      credential: { ...describePasskey(passkey), publicKey: Uint8Array.from(publicKey), counter: 0 },
      requireUserVerification: false,
    });
    if (!verified) return { result: "wrong" };
    const { newCounter } = authenticationInfo;
    // Passkeys that are synchronized between devices always count 0.
    const isCopied = signCount > 0 && newCounter <= signCount;
    return isCopied ? { result: "copied" } : { result: "right", id, signCount: newCounter };
  } catch {
    return { result: "wrong" };
  }
}
