/** Tests passkeys with a software authenticator. The tests in test/browser/ use Chromium's virtual authenticator. */
import { describe, expect, test } from "bun:test";
import {
  checkPasskey,
  passkeyCreation,
  passkeyRequest,
  readNewPasskey,
} from "../../../../api/accounts/factors/passkeys.ts";
import type { PasskeyRow } from "../../../../sql/accounts/second_factors.ts";
import { PasskeyDevice } from "../../../helpers/accounts/passkey_device.ts";

const CONFIG = { publicUrl: "https://ulr.example:8443" };
const ORIGIN = "https://ulr.example:8443";
const USER = {
  id: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  email: "you@example.com",
  username: "you",
  passkeys: [],
};

/** Registers a device. Returns the passkey's row as the service would store it. */
async function register(device: PasskeyDevice): Promise<PasskeyRow> {
  const { options, challengeHash } = await passkeyCreation(CONFIG, USER);
  const response = device.create({ challenge: options.challenge, origin: ORIGIN });
  const made = await readNewPasskey(CONFIG, { response, challengeHash });
  if (!made) throw new Error("Cannot register the device");
  return { id: "9d0a2f52-61c4-4f57-8d3b-1f2f9d3e7a10", ...made, transports: [...made.transports] };
}

describe("readNewPasskey()", () => {
  test("returns the credential id, counter and transports of a new passkey", async () => {
    const device = new PasskeyDevice();
    const passkey = await register(device);
    expect(Buffer.from(passkey.credentialId).equals(device.id)).toBe(true);
    expect([passkey.signCount, passkey.transports]).toEqual([0, ["internal"]]);
  });

  test("refuses malformed responses and responses for another challenge, origin or host", async () => {
    const { options, challengeHash } = await passkeyCreation(CONFIG, USER);
    const { challenge } = options;
    const device = new PasskeyDevice();
    const { challenge: other } = (await passkeyCreation(CONFIG, USER)).options;
    const responses = [
      device.create({ challenge: other, origin: ORIGIN }),
      device.create({ challenge, origin: "https://ulr.example.evil" }),
      device.create({ challenge, origin: "https://ulr.example" }),
      device.create({ challenge, origin: ORIGIN, rpId: "example" }),
      device.get({ challenge, origin: ORIGIN }),
      ...["", "{", "null", "1", "{}", '{"id":1,"response":null}'],
      device
        .create({ challenge, origin: ORIGIN })
        .replace(/"clientDataJSON":"[^"]*"/, '"clientDataJSON":"AAAA"'),
    ];
    const made = responses.map((response) => readNewPasskey(CONFIG, { response, challengeHash }));
    expect(await Promise.all(made)).toEqual(responses.map(() => null));
    const good = device.create({ challenge, origin: ORIGIN });
    expect(await readNewPasskey(CONFIG, { response: good, challengeHash })).not.toBeNull();
  });
});

describe("checkPasskey()", () => {
  test("accepts only a registered passkey's signature for the challenge, origin and host", async () => {
    const device = new PasskeyDevice();
    const passkeys = [await register(new PasskeyDevice()), await register(device)];
    const { options, challengeHash } = await passkeyRequest(CONFIG, passkeys);
    expect(options.allowCredentials?.map(({ id }) => id)).toContain(device.id.toString("base64url"));
    const { challenge } = options;
    const check = (response: string) => checkPasskey(CONFIG, { response, challengeHash, passkeys });
    const good = device.get({ challenge, origin: ORIGIN });
    const id = device.id.toString("base64url");
    expect(await check(good)).toMatchObject({ result: "right", signCount: 1 });
    const { challenge: other } = (await passkeyRequest(CONFIG, passkeys)).options;
    for (const wrong of [
      device.get({ challenge: other, origin: ORIGIN }),
      device.get({ challenge, origin: "https://evil.example" }),
      device.get({ challenge, origin: ORIGIN, rpId: "evil.example" }),
      new PasskeyDevice().get({ challenge, origin: ORIGIN }),
      new PasskeyDevice()
        .get({ challenge, origin: ORIGIN })
        .replaceAll(/"(id|rawId)":"[^"]*"/g, `"$1":"${id}"`),
      good.replace(/"signature":"[^"]*"/, '"signature":"AAAA"'),
      ...["", "{", "null", "1", "{}", `{"id":"${id}"}`],
    ]) {
      expect(await check(wrong)).toEqual({ result: "wrong" });
    }
  });

  test("detects a copied passkey by its counter, but accepts a counter that stays 0", async () => {
    const device = new PasskeyDevice();
    const stored = await register(device);
    const answer = async (signCount: number, count: number) => {
      const passkeys = [{ ...stored, signCount }];
      const { options, challengeHash } = await passkeyRequest(CONFIG, passkeys);
      device.count = count - 1;
      const response = device.get({ challenge: options.challenge, origin: ORIGIN });
      return (await checkPasskey(CONFIG, { response, challengeHash, passkeys })).result;
    };
    expect(await answer(5, 6)).toBe("right");
    expect(await answer(5, 5)).toBe("copied");
    expect(await answer(5, 4)).toBe("copied");
    expect(await answer(5, 0)).toBe("copied");
    expect(await answer(0, 0)).toBe("right");
    expect(await answer(0, 1)).toBe("right");
  });
});
