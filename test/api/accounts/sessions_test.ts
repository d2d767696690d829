import { describe, expect, test } from "bun:test";
import { auditRows, login, makeAccount, type SignedIn, signIn } from "../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const PATH = "/api/v1/auth/sessions";

interface Session {
  id: string;
  lastUsedAt: string;
  isCurrent: boolean;
  [field: string]: unknown;
}

async function listSessions(api: TestApp, key: string): Promise<Session[]> {
  const response = await api.request(PATH, { key });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { sessions: Session[] } }).data.sessions;
}

async function revoke(api: TestApp, key: string, id: string): Promise<Response> {
  return api.request(`${PATH}/${id}`, { method: "DELETE", key });
}

describe("GET /auth/sessions", () => {
  test("lists the caller's live sessions, newest first, with address and user agent", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    await api.make.session({ userId: account.id, revokedAt: "2026-01-01T00:00:00.000Z" });
    await api.make.session({ userId: account.id, expiresAt: "2026-01-01T00:00:00.000Z" });
    await signIn(api, await makeAccount(api));
    const operators = await api.make.session({ userId: account.id });
    const response = await login(api, account, {
      address: "198.51.100.20",
      headers: { "user-agent": `Browser ${"x".repeat(400)}` },
    });
    const { data } = (await response.json()) as { data: SignedIn };
    const sessions = await listSessions(api, data.sessionToken);
    expect(sessions).toEqual([
      {
        id: expect.any(String),
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
        address: "198.51.100.20",
        userAgent: `Browser ${"x".repeat(292)}`,
        expiresAt: data.expiresAt,
        isCurrent: true,
      },
      expect.objectContaining({ id: operators.id, address: null, userAgent: null, isCurrent: false }),
    ]);
  });

  test("updates lastUsedAt when the session is used", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const long = "2026-01-01T00:00:00.000Z";
    const { token } = await api.make.session({ userId: account.id, lastUsedAt: long });
    await api.request("/api/v1/auth/me", { key: token });
    await waitFor(async () => (await listSessions(api, token))[0]?.lastUsedAt !== long);
  });
});

describe("DELETE /auth/sessions/{id}", () => {
  test("ends a session immediately and writes an audit entry", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const own = await signIn(api, account);
    const other = await signIn(api, account);
    const id = (await listSessions(api, own.sessionToken)).find(({ isCurrent }) => !isCurrent)?.id ?? "";
    expect((await api.request("/api/v1/auth/me", { key: other.sessionToken })).status).toBe(200);
    const response = await revoke(api, own.sessionToken, id.toUpperCase());
    expect([response.status, response.headers.getSetCookie()]).toEqual([204, []]);
    expect((await api.request("/api/v1/auth/me", { key: other.sessionToken })).status).toBe(401);
    expect((await auditRows(api)).at(-1)).toMatchObject({ action: "session.revoke", subjectId: id });
  });

  test("deletes the cookie and clears the browser's data when the current session is ended", async () => {
    await using api = await openTestApp();
    const { sessionToken } = await signIn(api, await makeAccount(api));
    const [session] = await listSessions(api, sessionToken);
    const response = await revoke(api, sessionToken, session?.id ?? "");
    expect([response.status, response.headers.getSetCookie().length]).toEqual([204, 1]);
    expect(response.headers.get("clear-site-data")).toBe('"cache", "storage"');
    expect((await api.request(PATH, { key: sessionToken })).status).toBe(401);
  });

  test("returns 404 for another user's session and an unknown id", async () => {
    await using api = await openTestApp();
    const { sessionToken } = await signIn(api, await makeAccount(api));
    const stranger = await makeAccount(api);
    const foreign = await api.make.session({ userId: stranger.id });
    for (const id of [foreign.id, crypto.randomUUID(), "x"]) {
      const response = await revoke(api, sessionToken, id);
      expect([id, response.status]).toEqual([id, 404]);
      expect(await response.json()).toMatchObject({ error: { details: { reason: "session" } } });
    }
    expect((await api.request("/api/v1/auth/me", { key: foreign.token })).status).toBe(200);
  });
});

test("a user's 51st session ends the least recently used session", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const made: { id: string; token: string }[] = [];
  for (let minute = 10; minute < 60; minute += 1) {
    const lastUsedAt = `2026-01-01T00:${minute}:00.000Z`;
    made.push(await api.make.session({ userId: account.id, lastUsedAt }));
  }
  const { sessionToken } = await signIn(api, account);
  const sessions = await listSessions(api, sessionToken);
  expect(sessions).toHaveLength(50);
  expect(sessions.map(({ id }) => id)).not.toContain(made[0]?.id);
  expect(sessions.map(({ id }) => id)).toContain(made[1]?.id ?? "");
  expect((await auditRows(api)).at(-1)?.["details"]).toMatchObject({ endedSessions: 1 });
});

test("a disabled user gets the same error as for a wrong password, and can sign in after being enabled", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  await api.db.sql`update users set disabled_at = now() where id = ${account.id}`;
  const refused = await login(api, account);
  const wrong = await login(api, { ...account, password: "not the password" });
  const messageOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return [response.status, error.code, error.message];
  };
  expect(await messageOf(refused)).toEqual(await messageOf(wrong));
  await api.db.sql`update users set disabled_at = null where id = ${account.id}`;
  expect((await login(api, account)).status).toBe(200);
});
