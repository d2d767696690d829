import { describe, expect, test } from "bun:test";
import { auditRows, login, makeAccount, signIn } from "../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

const NEW_PASSWORD = "seven quiet lamps at noon";

async function change(api: TestApp, key: string, body: unknown): Promise<Response> {
  return api.request("/api/v1/auth/password", { method: "POST", key, body });
}

describe("POST /auth/password", () => {
  test("replaces the password, ends other sessions, keeps API keys and writes an audit entry", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const own = await signIn(api, account);
    const other = await signIn(api, account);
    const { key } = await api.make.key({ userId: account.id });
    const body = { currentPassword: account.password, newPassword: NEW_PASSWORD };
    const response = await change(api, own.sessionToken, body);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    const statusOf = async (secret: string) => (await api.request("/api/v1/auth/me", { key: secret })).status;
    expect(await Promise.all([own.sessionToken, other.sessionToken, key].map(statusOf))).toEqual([
      200, 401, 200,
    ]);
    expect((await login(api, account)).status).toBe(401);
    expect((await login(api, { ...account, password: NEW_PASSWORD })).status).toBe(200);
    const [noted] = (await auditRows(api)).filter(({ action }) => action === "password.change");
    expect(noted).toMatchObject({
      actorUserId: account.id,
      subjectId: account.id,
      details: { endedSessions: 1 },
    });
  });

  test("returns 401 for a wrong current password and changes nothing", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const { sessionToken } = await signIn(api, account);
    const body = { currentPassword: "not the password", newPassword: NEW_PASSWORD };
    const response = await change(api, sessionToken, body);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    expect((await login(api, account)).status).toBe(200);
  });

  test("refuses a password that breaks the password rules", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const { sessionToken } = await signIn(api, account);
    for (const newPassword of ["short", "Password1", "a".repeat(1025), 7, undefined]) {
      const response = await change(api, sessionToken, { currentPassword: account.password, newPassword });
      expect([newPassword, response.status]).toEqual([newPassword, 400]);
      expect(await response.json()).toMatchObject({
        error: { code: "VALIDATION_ERROR", details: { errors: [{ path: "newPassword" }] } },
      });
    }
  });

  test("counts a wrong current password as a sign-in attempt", async () => {
    await using api = await openTestApp({ config: { rateLimitLoginPerMinute: 2 } });
    const account = await makeAccount(api);
    const { token } = await api.make.session({ userId: account.id });
    const body = { currentPassword: "not the password", newPassword: NEW_PASSWORD };
    for (const status of [401, 401, 429]) expect((await change(api, token, body)).status).toBe(status);
  });

  test("applies only one of two concurrent password changes", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const { sessionToken } = await signIn(api, account);
    const responses = await Promise.all(
      ["first new password", "second new password"].map((newPassword) =>
        change(api, sessionToken, { currentPassword: account.password, newPassword }),
      ),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 401]);
  });
});

test("refuses a password that contains the email address, even if the address changes during the request", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { sessionToken: key } = await signIn(api, account);
  const body = { currentPassword: account.password, newPassword: "mountains@example.org!" };
  const response = await commitDuring(
    api.db,
    (tx) => tx`update users set email = 'mountains@example.org'`,
    () => api.request("/api/v1/auth/password", { method: "POST", key, body }),
  );
  expect(await response.json()).toMatchObject({
    error: { code: "VALIDATION_ERROR", details: { errors: [{ path: "newPassword" }] } },
  });
  expect((await login(api, { ...account, email: "mountains@example.org" })).status).toBe(200);
});
