import { expect, test } from "bun:test";
import { verifyPassword } from "../../../api/accounts/password_rules.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { login, makeAccount, signIn } from "../../helpers/accounts/accounts.ts";
import { createUser, runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const UUID = /^[0-9a-f-]{36}$/;

async function listActions(sql: Pool): Promise<string[]> {
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor_type = 'operator' order by id`;
  return rows.map((row) => row.action);
}

async function statusOf(api: TestApp, key: string): Promise<number> {
  return (await api.request("/api/v1/auth/me", { key })).status;
}

test("user create creates an account that owns a personal organization", async () => {
  await using db = await openTestDatabase();
  const user = await runJson(db.url, [
    ...["user", "create", "--username", "ann", "--email", "Ann@example.com", "--password", "correct horse"],
    ...["--name", "Ann B", "--platform-admin"],
  ]);
  expect(user).toEqual({
    id: expect.stringMatching(UUID),
    username: "ann",
    email: "Ann@example.com",
    personalOrg: { id: expect.stringMatching(UUID), slug: "ann" },
  });
  const [row] = await db.sql`
    select u.platform_role, u.password_hash, u.name, o.is_personal, o.subscription_tier, m.role
    from users u
    join organization_members m on m.user_id = u.id
    join organizations o on o.id = m.org_id`;
  expect(row).toMatchObject({
    platformRole: "admin",
    name: "Ann B",
    isPersonal: true,
    subscriptionTier: "free",
    role: "owner",
  });
  expect(row?.["passwordHash"]).toStartWith("$argon2id$");
  expect(await verifyPassword("correct horse", row?.["passwordHash"])).toBe(true);
  expect(await verifyPassword("wrong horse", row?.["passwordHash"])).toBe(false);
  expect(await listActions(db.sql)).toEqual(["user.create"]);
});

test("user create rejects a taken username or email address and leaves no rows behind", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const create = (username: string, email: string) =>
    runFailing(db.url, [
      "user",
      "create",
      "--username",
      username,
      "--email",
      email,
      "--password",
      "long enough",
    ]);
  expect(await create("ann", "other@example.com")).toBe('Cannot create user "ann": the username is taken');
  expect(await create("bob", "ANN@example.com")).toContain("another user has the email");
  expect(await create("acme", "acme@example.com")).toContain("an organization has the username as its slug");
  const [count] =
    await db.sql`select (select count(*) from users) + (select count(*) from audit_log) as count`;
  expect(count?.["count"]).toBe(3);
});

test("user set-password reads the password from standard input and ends every session", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { sessionToken } = await signIn(api, account);
  await signIn(api, account);
  const words = ["user", "set-password", "--user", account.username];
  expect(await runJson(api.db.url, words, {}, "seven quiet lamps")).toEqual({
    id: account.id,
    sessionsRevoked: 2,
  });
  await waitFor(async () => (await statusOf(api, sessionToken)) === 401, 1_000);
  expect((await login(api, account)).status).toBe(401);
  expect((await login(api, { ...account, password: "seven quiet lamps" })).status).toBe(200);
  for (const input of ["", "short", "Password123"]) {
    expect((await runCommand(api.db.url, words, {}, input)).exitCode).toBe(2);
  }
});

test("user disable blocks all credentials within a second, and user enable restores them", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { sessionToken } = await signIn(api, account);
  const { key } = await api.make.key({ userId: account.id });
  expect(await Promise.all([sessionToken, key].map((secret) => statusOf(api, secret)))).toEqual([200, 200]);
  const words = ["--user", account.username];
  const { disabledAt } = await runJson(api.db.url, ["user", "disable", ...words]);
  expect(disabledAt).toMatch(/^\d{4}-/);
  expect(await runJson(api.db.url, ["user", "disable", ...words])).toMatchObject({ disabledAt });
  for (const secret of [sessionToken, key]) {
    await waitFor(async () => (await statusOf(api, secret)) === 401, 1_000);
  }
  expect((await login(api, account)).status).toBe(401);
  for (const command of ["session create", "key create"]) {
    const { exitCode, err } = await runCommand(api.db.url, [...command.split(" "), ...words]);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("is disabled")]);
  }
  expect(await runJson(api.db.url, ["user", "enable", ...words])).toEqual({
    id: account.id,
    disabledAt: null,
  });
  expect(await Promise.all([sessionToken, key].map((secret) => statusOf(api, secret)))).toEqual([200, 200]);
});
