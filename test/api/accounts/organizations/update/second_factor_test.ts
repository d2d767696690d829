/** PATCH /orgs/{slug} with requireSecondFactor. */
import { expect, test } from "bun:test";
import { auditRows, makeAccount, signIn } from "../../../../helpers/accounts/accounts.ts";
import { Clock, outcomeOf, withTotp } from "../../../../helpers/accounts/factors.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { commitDuring } from "../../../../helpers/postgres/waiting_sessions.ts";

async function open() {
  const clock = new Clock();
  const api = await openTestApp({ now: clock.now });
  const account = await makeAccount(api);
  const org = await api.make.org();
  await api.make.member({ orgId: org.id, userId: account.id, role: "owner" });
  return { api, clock, account, org, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

async function set(api: TestApp, slug: string, key: string, requireSecondFactor: boolean): Promise<string> {
  const body = { requireSecondFactor };
  return outcomeOf(await api.request(`/api/v1/orgs/${slug}`, { method: "PATCH", key, body }));
}

test("an owner with a factor can start and stop requiring a factor for members' sessions", async () => {
  await using place = await open();
  const { api, clock, account, org } = place;
  const { key } = await withTotp(api, clock, account);
  const member = await api.make.person({ org, role: "admin" });
  const { token } = await api.make.session({ userId: member.user.id });
  const statusOf = async (as: string) => (await api.request(`/api/v1/orgs/${org.slug}`, { key: as })).status;
  expect(await statusOf(token)).toBe(200);
  expect(await set(api, org.slug, key, true)).toBe("200");
  expect([await statusOf(token), await statusOf(key), await statusOf(member.key)]).toEqual([403, 200, 200]);
  const shown = await (await api.request(`/api/v1/orgs/${org.slug}`, { key })).json();
  expect(shown).toMatchObject({ data: { requireSecondFactor: true } });
  expect(await set(api, org.slug, token, false)).toBe("403 SECOND_FACTOR_REQUIRED");
  expect(await set(api, org.slug, key, false)).toBe("200");
  expect(await statusOf(token)).toBe(200);
  const entries = (await auditRows(api)).filter(({ action }) => action === "org.update");
  expect(entries.map((entry) => entry["details"])).toEqual([
    { changed: "requireSecondFactor", requireSecondFactor: true },
    { changed: "requireSecondFactor", requireSecondFactor: false },
  ]);
});

test("the requirement cannot be set by an owner without a factor, an admin or an API key", async () => {
  await using place = await open();
  const { api, clock, account, org } = place;
  const { sessionToken } = await signIn(api, account);
  expect(await set(api, org.slug, sessionToken, true)).toBe("422 UNPROCESSABLE_ENTITY");
  const admin = await makeAccount(api);
  await api.make.member({ orgId: org.id, userId: admin.id, role: "admin" });
  const { key: adminKey } = await withTotp(api, clock, admin);
  expect(await set(api, org.slug, adminKey, true)).toBe("403 INSUFFICIENT_ORG_ROLE");
  const { key } = await api.make.key({ userId: account.id });
  expect(await set(api, org.slug, key, true)).toBe("403 SESSION_REQUIRED");
  expect(await api.db.sql`select 1 from organizations where require_second_factor`).toHaveLength(0);
});

test("an owner whose factor was not used recently cannot set the requirement", async () => {
  await using place = await open();
  const { api, clock, account, org } = place;
  const { key } = await withTotp(api, clock, account);
  await api.db.sql`update sessions set factor_at = now() - interval '16 minutes'`;
  expect(await set(api, org.slug, key, true)).toBe("403 SECOND_FACTOR_REQUIRED");
});

test("a member with a factor has access, but loses access by removing the last factor", async () => {
  await using place = await open();
  const { api, clock, account, org } = place;
  await api.db.sql`update organizations set require_second_factor = true where id = ${org.id}`;
  const { key, factorId } = await withTotp(api, clock, account);
  const statusOf = async () => (await api.request(`/api/v1/orgs/${org.slug}`, { key })).status;
  expect(await statusOf()).toBe(200);
  await api.request(`/api/v1/auth/factors/${factorId}`, { method: "DELETE", key });
  expect(await statusOf()).toBe(403);
});

test("an owner who is demoted to admin during the request cannot set the requirement", async () => {
  await using place = await open();
  const { api, clock, account, org } = place;
  const { key } = await withTotp(api, clock, account);
  const outcome = await commitDuring(
    api.db,
    (tx) => tx`update organization_members set role = 'admin' where org_id = ${org.id}`,
    () => set(api, org.slug, key, true),
  );
  expect(outcome).toBe("403 INSUFFICIENT_ORG_ROLE");
  expect(await api.db.sql`select 1 from organizations where require_second_factor`).toHaveLength(0);
});
