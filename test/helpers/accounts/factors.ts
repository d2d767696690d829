/** Creates users with a second factor, and signs them in. */
import type { TestApp, TestRequest } from "../http/app.ts";
import { type Account, login, type SignedIn, signIn } from "./accounts.ts";
import { PasskeyDevice } from "./passkey_device.ts";
import { codeAt } from "./totp_code.ts";

/** The origin of PUBLIC_URL in tests. */
export const ORIGIN = "http://localhost:3000";

/** A manual clock for the app's `now`. `code` returns the code that an authenticator app shows at the clock's time. */
export class Clock {
  time = Date.now();
  readonly now = (): number => this.time;

  /** Advances the clock by one TOTP time step, 30 seconds. */
  step(): void {
    this.time += 30_000;
  }

  code(secret: string): string {
    return codeAt(secret, this.time);
  }
}

export interface FactorUser {
  account: Account;
  /** The token of the session that added the factor. */
  key: string;
  factorId: string;
  recoveryCodes: string[];
}

interface Added {
  factor: { id: string; kind: string; name: string };
  recoveryCodes: string[] | null;
}

/** Sends a POST request and returns the data of the response. Throws for an error response. */
export async function post<Data>(api: TestApp, path: string, options: TestRequest): Promise<Data> {
  const response = await api.request(`/api/v1${path}`, { method: "POST", ...options });
  const { data, error } = (await response.json()) as { data: Data; error?: { message: string } };
  if (error) throw new Error(`Cannot POST ${path}: ${response.status} ${error.message}`);
  return data;
}

/** Signs in and adds an authenticator app, confirmed with the code of the current time step. */
export async function withTotp(
  api: TestApp,
  clock: Clock,
  account: Account,
): Promise<FactorUser & { secret: string }> {
  const { sessionToken: key } = await signIn(api, account);
  const body = { password: account.password };
  const { secret } = await post<{ secret: string }>(api, "/auth/factors/totp", { key, body });
  const code = clock.code(secret);
  const added = await post<Added>(api, "/auth/factors/totp/confirm", { key, body: { name: "Phone", code } });
  return { account, key, secret, factorId: added.factor.id, recoveryCodes: added.recoveryCodes ?? [] };
}

/** Signs in and adds a passkey. */
export async function withPasskey(
  api: TestApp,
  account: Account,
): Promise<FactorUser & { device: PasskeyDevice }> {
  const { sessionToken: key } = await signIn(api, account);
  const device = new PasskeyDevice();
  const added = await addDevice(api, { key, device, password: account.password });
  return { account, key, device, factorId: added.factor.id, recoveryCodes: added.recoveryCodes ?? [] };
}

export async function addDevice(
  api: TestApp,
  { key, device, password }: { key: string; device: PasskeyDevice; password?: string },
): Promise<Added> {
  const begun = await post<{ options: { challenge: string } }>(api, "/auth/factors/passkeys/options", {
    key,
    body: password === undefined ? {} : { password },
  });
  const passkey = device.create({ challenge: begun.options.challenge, origin: ORIGIN });
  return post<Added>(api, "/auth/factors/passkeys", { key, body: { name: "Key", passkey } });
}

/** Sends the password, and returns the details of SECOND_FACTOR_REQUIRED. Throws for any other response. */
export async function firstStep(api: TestApp, account: Account, options: TestRequest = {}) {
  const response = await login(api, account, options);
  const { error } = (await response.json()) as {
    error: { code: string; details: { loginToken: string; methods: string[]; expiresAt: string } };
  };
  if (error?.code !== "SECOND_FACTOR_REQUIRED")
    throw new Error("Cannot begin: no second factor was required");
  return error.details;
}

export async function secondStep(
  api: TestApp,
  body: { loginToken: string; code?: string; passkey?: string },
  options: TestRequest = {},
): Promise<Response> {
  return api.request("/api/v1/auth/login/second-factor", { method: "POST", body, ...options });
}

/** Signs in with the password and a code. Throws if that fails. */
export async function signInWithCode(api: TestApp, account: Account, code: string): Promise<SignedIn> {
  const { loginToken } = await firstStep(api, account);
  const response = await secondStep(api, { loginToken, code });
  if (response.status !== 200) throw new Error(`Cannot sign in: status ${response.status}`);
  return ((await response.json()) as { data: SignedIn }).data;
}

/** Returns the challenge that the passkey must sign to complete a sign-in. */
export async function signInChallenge(api: TestApp, loginToken: string): Promise<string> {
  const body = { loginToken };
  const path = "/auth/login/second-factor/options";
  const { options } = await post<{ options: { challenge: string } }>(api, path, { body });
  return options.challenge;
}

/** Returns the status of a response, followed by the error code of an error response. */
export async function outcomeOf(response: Response): Promise<string> {
  if (response.status < 400) {
    await response.body?.cancel();
    return String(response.status);
  }
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}
