import { expect, test } from "bun:test";
import { makeAccount, signIn } from "../../../../helpers/accounts/accounts.ts";
import { addDevice, ORIGIN, outcomeOf, post, withPasskey } from "../../../../helpers/accounts/factors.ts";
import { PasskeyDevice } from "../../../../helpers/accounts/passkey_device.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";

interface Begun {
  options: { challenge: string; rp: { id: string }; excludeCredentials: { id: string }[] };
}

async function begin(api: TestApp, key: string, password?: string): Promise<Begun["options"]> {
  const body = password === undefined ? {} : { password };
  return (await post<Begun>(api, "/auth/factors/passkeys/options", { key, body })).options;
}

async function add(api: TestApp, key: string, passkey: string): Promise<string> {
  const body = { name: "Key", passkey };
  return outcomeOf(await api.request("/api/v1/auth/factors/passkeys", { method: "POST", key, body }));
}

test("binds a new passkey to the host of PUBLIC_URL and excludes registered devices", async () => {
  await using api = await openTestApp();
  const { key, device, recoveryCodes } = await withPasskey(api, await makeAccount(api));
  expect(recoveryCodes).toHaveLength(10);
  const options = await begin(api, key);
  expect(options.rp.id).toBe("localhost");
  expect(options.excludeCredentials.map(({ id }) => id)).toEqual([device.id.toString("base64url")]);
  const second = await addDevice(api, { key, device: new PasskeyDevice() });
  expect(second.recoveryCodes).toBeNull();
  const again = device.create({ challenge: (await begin(api, key)).challenge, origin: ORIGIN });
  expect(await add(api, key, again)).toBe("400 VALIDATION_ERROR");
});

test("accepts each challenge once, from its own session and the service's origin, until it expires", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const device = new PasskeyDevice();
  const ask = async () => (await begin(api, key, account.password)).challenge;
  expect(await add(api, key, device.create({ challenge: "AAAA", origin: ORIGIN }))).toBe("404 NOT_FOUND");
  const challenge = await ask();
  const { sessionToken: otherKey } = await signIn(api, account);
  const good = device.create({ challenge, origin: ORIGIN });
  expect(await add(api, otherKey, good)).toBe("404 NOT_FOUND");
  expect(await add(api, key, device.create({ challenge, origin: "https://evil.example" }))).toBe(
    "400 VALIDATION_ERROR",
  );
  expect(await add(api, key, good)).toBe("404 NOT_FOUND");
  const expired = device.create({ challenge: await ask(), origin: ORIGIN });
  await api.db.sql`update factor_challenges set expires_at = now() - interval '1 second'`;
  expect(await add(api, key, expired)).toBe("404 NOT_FOUND");
  const last = device.create({ challenge: await ask(), origin: ORIGIN });
  const outcomes = await Promise.all([add(api, key, last), add(api, key, last)]);
  expect(outcomes.toSorted()).toEqual(["201", "404 NOT_FOUND"]);
});

test("refuses a device that is registered to another user", async () => {
  await using api = await openTestApp();
  const { device } = await withPasskey(api, await makeAccount(api));
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const { challenge } = await begin(api, key, account.password);
  expect(await add(api, key, device.create({ challenge, origin: ORIGIN }))).toBe("400 VALIDATION_ERROR");
});
