/** POST /auth/keys requires a recent second factor, because the key itself works without one. */
import { expect, test } from "bun:test";
import { makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { Clock, outcomeOf, withTotp } from "../../../helpers/accounts/factors.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

async function createKey(api: TestApp, key: string, body: object = {}): Promise<string> {
  return outcomeOf(await api.request("/api/v1/auth/keys", { method: "POST", key, body }));
}

test("a user with a factor can create keys only in the 15 minutes after using the factor", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const { key } = await withTotp(api, clock, await makeAccount(api));
  expect(await createKey(api, key)).toBe("201");
  await api.db.sql`update sessions set factor_at = now() - interval '15 minutes'`;
  const response = await api.request("/api/v1/auth/keys", { method: "POST", key, body: {} });
  expect(await response.json()).toMatchObject({
    error: { code: "SECOND_FACTOR_REQUIRED", details: { maxAgeSeconds: 900 } },
  });
});

test("a member without a factor cannot create keys that work in an organization requiring a factor", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const [strict, lax] = [await api.make.org({ requireSecondFactor: true }), await api.make.org()];
  for (const { id } of [strict, lax])
    await api.make.member({ orgId: id, userId: account.id, role: "viewer" });
  const { sessionToken: key } = await signIn(api, account);
  expect(await createKey(api, key)).toBe("403 SECOND_FACTOR_REQUIRED");
  expect(await createKey(api, key, { organization: strict.slug })).toBe("403 SECOND_FACTOR_REQUIRED");
  expect(await createKey(api, key, { organization: lax.slug })).toBe("201");
});

test("a user whose organizations require no factor can create keys without a factor", async () => {
  await using api = await openTestApp();
  const { sessionToken: key } = await signIn(api, await makeAccount(api));
  expect(await createKey(api, key)).toBe("201");
});
