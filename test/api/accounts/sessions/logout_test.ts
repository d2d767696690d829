import { describe, expect, test } from "bun:test";
import { auditRows, makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

describe("POST /auth/logout", () => {
  test("revokes the token immediately and deletes the cookie", async () => {
    await using api = await openTestApp();
    const { sessionToken } = await signIn(api, await makeAccount(api));
    const response = await api.request("/api/v1/auth/logout", { method: "POST", key: sessionToken });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.getSetCookie()).toEqual([
      "ulr_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0",
    ]);
    expect(response.headers.get("clear-site-data")).toBe('"cache", "storage"');
    for (const method of ["GET", "POST"]) {
      const path = method === "GET" ? "/api/v1/auth/me" : "/api/v1/auth/logout";
      expect((await api.request(path, { method, key: sessionToken })).status).toBe(401);
    }
    const cookie = { cookie: `ulr_session=${sessionToken}` };
    expect((await api.request("/api/v1/auth/me", { headers: cookie })).status).toBe(401);
  });

  test("keeps the user's other sessions", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const [first, second] = [await signIn(api, account), await signIn(api, account)];
    await api.request("/api/v1/auth/logout", { method: "POST", key: first.sessionToken });
    expect((await api.request("/api/v1/auth/me", { key: second.sessionToken })).status).toBe(200);
  });

  test("writes one audit entry for concurrent requests", async () => {
    await using api = await openTestApp();
    const { user } = await api.make.person();
    const { id, token } = await api.make.session({ userId: user.id });
    const out = () => api.request("/api/v1/auth/logout", { method: "POST", key: token });
    const statuses = (await Promise.all([out(), out(), out()])).map(({ status }) => status);
    expect(statuses).toContain(204);
    expect(statuses.filter((status) => status !== 204 && status !== 401)).toEqual([]);
    expect(Array.from(await auditRows(api))).toEqual([
      {
        actorType: "user",
        actorUserId: user.id,
        credentialId: id,
        action: "session.revoke",
        subjectType: "session",
        subjectId: id,
        clientRequestId: null,
        details: {},
      },
    ]);
  });

  test("returns 403 for API keys and 401 for anonymous callers", async () => {
    await using api = await openTestApp();
    for (const options of [{}, { kind: "automation" }, { kind: "system" }, { scope: "read" }] as const) {
      const { key } = await api.make.person(options);
      const response = await api.request("/api/v1/auth/logout", { method: "POST", key });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "SESSION_REQUIRED" } });
    }
    expect((await api.request("/api/v1/auth/logout", { method: "POST" })).status).toBe(401);
  });
});
