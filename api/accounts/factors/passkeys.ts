/** Passkeys (WebAuthn): the options sent to browsers, and their responses. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { NewPasskey, PasskeyRow } from "../../../sql/accounts/second_factors.ts";
import { hashSecret } from "../../http/credentials.ts";

type SiteConfig = Pick<Config, "publicUrl">;
/** Names of transports. The standard adds new ones over time. */
type Transports = NonNullable<RegistrationResponseJSON["response"]["transports"]>;

/** Imports the library on first use, because loading takes 0.1 s. */
const loadWebAuthn = () => import("@simplewebauthn/server");

/** Returns the origin and host of PUBLIC_URL. Passkeys work only on this host. */
function siteOf({ publicUrl }: SiteConfig) {
  const { origin, hostname } = new URL(publicUrl);
  return { expectedOrigin: origin, expectedRPID: hostname };
}

/** Returns a function that checks whether a challenge has this hash. */
function isChallenge(challengeHash: Uint8Array): (challenge: string) => boolean {
  return (challenge) => hashSecret(challenge).equals(challengeHash);
}

/** Returns the options for `navigator.credentials.create()`, and the hash of their challenge. */
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
    // Sign-in with email and password identifies the account, so the device need not store it.
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  });
  return { options: { ...options }, challengeHash: hashSecret(options.challenge) };
}

/** Returns the options for `navigator.credentials.get()`, and the hash of their challenge. Throws if there are no passkeys. */
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

/** Returns the passkey that a browser created; null if its response is invalid or for another challenge. */
export async function readNewPasskey(
  config: SiteConfig,
  { response, challengeHash }: { response: string; challengeHash: Uint8Array },
): Promise<Omit<NewPasskey, "userId" | "name"> | null> {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...siteOf(config),
      // The library validates every field that it reads.
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
    // The library throws if the response is invalid.
    return null;
  }
}

/** The verdict on a passkey's signature: right, wrong, or from a copy of the passkey. */
type PasskeyVerdict = { result: "right"; id: string; signCount: number } | { result: "wrong" | "copied" };

/** Checks the response of one of the given passkeys. */
export async function checkPasskey(
  config: SiteConfig,
  options: { response: string; challengeHash: Uint8Array; passkeys: readonly PasskeyRow[] },
): Promise<PasskeyVerdict> {
  const { response, challengeHash, passkeys } = options;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  try {
    // The library validates every field that it reads.
    const parsed = JSON.parse(response) as AuthenticationResponseJSON;
    const passkey = passkeys.find((one) => describePasskey(one).id === parsed.id);
    if (!passkey) return { result: "wrong" };
    const { id, publicKey, signCount } = passkey;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...siteOf(config),
      response: parsed,
      expectedChallenge: isChallenge(challengeHash),
      // Counter 0 turns off the library's comparison, whose error looks like any other. `isCopied` replaces it.
      credential: { ...describePasskey(passkey), publicKey: Uint8Array.from(publicKey), counter: 0 },
      requireUserVerification: false,
    });
    if (!verified) return { result: "wrong" };
    const { newCounter } = authenticationInfo;
    // Passkeys that are synchronized between devices always report 0.
    const isCopied = signCount > 0 && newCounter <= signCount;
    return isCopied ? { result: "copied" } : { result: "right", id, signCount: newCounter };
  } catch {
    return { result: "wrong" };
  }
}
