import { expect, test } from "bun:test";
import { auditRows, login, makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import {
  addDevice,
  Clock,
  firstStep,
  outcomeOf,
  post,
  secondStep,
  signInWithCode,
  withTotp,
} from "../../../helpers/accounts/factors.ts";
import { PasskeyDevice } from "../../../helpers/accounts/passkey_device.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const PATH = "/api/v1/auth/factors";

test("only the owner of a factor can rename it", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { key, factorId } = await withTotp(api, clock, await makeAccount(api));
  const { sessionToken: other } = await signIn(api, await makeAccount(api));
  const rename = (as: string, id: string, name: string) =>
    api.request(`${PATH}/${id}`, { method: "PATCH", key: as, body: { name } });
  expect(await outcomeOf(await rename(other, factorId, "Mine"))).toBe("404 NOT_FOUND");
  expect(await outcomeOf(await rename(key, "no-uuid", "Mine"))).toBe("404 NOT_FOUND");
  for (const name of ["two\nlines", "  ", "\u3164"]) {
    expect(await outcomeOf(await rename(key, factorId, name))).toBe("400 VALIDATION_ERROR");
  }
  const renamed = await rename(key, factorId, "Old phone");
  expect(await renamed.json()).toMatchObject({ data: { factor: { id: factorId, name: "Old phone" } } });
});

test("removing a factor requires a recent second factor and ends other sessions", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account, key, secret, factorId } = await withTotp(api, clock, await makeAccount(api));
  const { factor } = await addDevice(api, { key, device: new PasskeyDevice() });
  clock.step();
  const { sessionToken: other } = await signInWithCode(api, account, clock.code(secret));
  const remove = async (id: string) =>
    outcomeOf(await api.request(`${PATH}/${id}`, { method: "DELETE", key }));
  await api.db.sql`update sessions set factor_at = now() - interval '16 minutes'`;
  expect(await remove(factorId)).toBe("403 SECOND_FACTOR_REQUIRED");
  await api.db.sql`update sessions set factor_at = now()`;
  expect(await remove(factorId)).toBe("204");
  expect(await remove(factorId)).toBe("404 NOT_FOUND");
  expect((await api.request("/api/v1/auth/me", { key: other })).status).toBe(401);
  expect((await firstStep(api, account)).methods).toEqual(["passkey", "recovery_code"]);
  expect(await remove(factor.id)).toBe("204");
  expect(await (await api.request(PATH, { key })).json()).toEqual({
    data: { factors: [], recoveryCodesLeft: 0, provenAt: null },
  });
  expect((await login(api, account)).status).toBe(200);
  const details = (await auditRows(api))
    .filter(({ action }) => action === "factor.remove")
    .map((row) => row["details"]);
  expect(details).toEqual([
    { kind: "totp", endedSessions: 1, isLast: false },
    { kind: "passkey", endedSessions: 0, isLast: true },
  ]);
});

test("removing another user's factor returns the same error as removing a missing factor", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { factorId } = await withTotp(api, clock, await makeAccount(api));
  const { key } = await withTotp(api, clock, await makeAccount(api));
  const texts = [factorId, crypto.randomUUID()].map(async (id) => {
    const response = await api.request(`${PATH}/${id}`, { method: "DELETE", key });
    return (await response.text()).replace(/"requestId":"[^"]*"/, "");
  });
  const [own, none] = await Promise.all(texts);
  expect(own).toBe(none ?? "");
});

test("new recovery codes invalidate the old codes", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { account, key, recoveryCodes } = await withTotp(api, clock, await makeAccount(api));
  const renew = () => post<{ recoveryCodes: string[] }>(api, "/auth/factors/recovery-codes", { key });
  const { recoveryCodes: renewed } = await renew();
  const use = async (code = "") => {
    const { loginToken } = await firstStep(api, account);
    return outcomeOf(await secondStep(api, { loginToken, code }));
  };
  expect(await use(recoveryCodes[0])).toBe("401 UNAUTHORIZED");
  expect(await use(renewed[0])).toBe("200");
  await api.db.sql`update sessions set factor_at = now() - interval '16 minutes'`;
  const response = await api.request(`${PATH}/recovery-codes`, { method: "POST", key });
  expect(await outcomeOf(response)).toBe("403 SECOND_FACTOR_REQUIRED");
  const { sessionToken } = await signIn(api, await makeAccount(api));
  const without = await api.request(`${PATH}/recovery-codes`, { method: "POST", key: sessionToken });
  expect(await outcomeOf(without)).toBe("422 UNPROCESSABLE_ENTITY");
});
