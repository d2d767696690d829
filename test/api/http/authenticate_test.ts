import { describe, expect, test } from "bun:test";
import { hashSecret, mintApiKey, mintSessionToken } from "../../../api/http/credentials.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";
import { waitFor } from "../../helpers/wait_for.ts";

async function expectRefused(api: TestApp, headers: Readonly<Record<string, string>>): Promise<void> {
  // The response is 401 even for a public route, an unknown path and a write with invalid JSON.
  for (const [method, path] of [
    ["GET", "/api/v1/echo/a"],
    ["GET", "/api/v1/caller"],
    ["GET", "/api/v1/nowhere"],
    ["POST", "/api/v1/things"],
  ] as const) {
    const response = await api.request(path, {
      method,
      headers,
      ...(method === "POST" ? { body: "{" } : {}),
    });
    expect([path, response.status, response.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"]);
    expect(await response.json()).toMatchObject({ error: { code: "UNAUTHORIZED" } });
  }
}

describe("a credential", () => {
  test("of either kind resolves to its user and its own id", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user, org } = await api.make.person();
    const { id, key } = await api.make.key({
      userId: user.id,
      orgId: org.id,
      kind: "automation",
      scope: "read",
    });
    const session = await api.make.session({ userId: user.id });
    const caller = { userId: user.id, username: user.username, platformRole: "user" };
    expect(await (await api.request("/api/v1/caller", { key })).json()).toEqual({
      data: {
        ...caller,
        credential: { type: "key", id, kind: "automation", scope: "read", orgId: org.id, expiresAt: null },
      },
    });
    expect(await (await api.request("/api/v1/caller", { key: session.token })).json()).toEqual({
      data: {
        ...caller,
        credential: {
          type: "session",
          id: session.id,
          expiresAt: "2999-01-01T00:00:00.000Z",
          isProven: false,
        },
      },
    });
  });

  test("reaches public routes too", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user, key } = await api.make.person();
    expect(await (await api.request("/api/v1/visitor", { key })).json()).toEqual({
      data: { userId: user.id },
    });
    expect(await (await api.request("/api/v1/visitor")).json()).toEqual({ data: { userId: null } });
  });

  test("is accepted with the scheme in any case", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    for (const scheme of ["bearer", "BEARER", "Bearer  "]) {
      const headers = { authorization: `${scheme} ${key}` };
      expect((await api.request("/api/v1/caller", { headers })).status).toBe(200);
    }
  });

  test("that is malformed or never existed is refused on every route", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person();
    const wrong = [
      "",
      "Bearer",
      "Bearer ",
      key,
      `Basic ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer ${mintApiKey().secret}`,
      `Bearer ${mintSessionToken().secret}`,
      `Bearer ${"x".repeat(9000)}`,
    ];
    for (const authorization of wrong) await expectRefused(api, { authorization });
  });

  test("that is a mistyped key is refused without a database query, but an older key without a checksum works", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user } = await api.make.person();
    const old = `ulr_${"o".repeat(43)}`;
    await api.db.sql`
      insert into api_keys (user_id, prefix, key_hash) values (${user.id}, 'ulr_oooooooo', ${hashSecret(old)})`;
    expect((await api.request("/api/v1/caller", { key: old })).status).toBe(200);
    const { secret } = mintApiKey();
    const mistyped = secret.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
    await api.deps.sql.end();
    expect((await api.request("/api/v1/caller", { key: mistyped })).status).toBe(401);
    expect((await api.request("/api/v1/caller", { key: secret })).status).toBe(503);
  });

  test("that was revoked or has expired is refused on every route", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { rateLimitAnonymousPerMinute: 1000 },
    });
    const { user } = await api.make.person();
    const past = "2020-01-01T00:00:00.000Z";
    const dead = [
      (await api.make.key({ userId: user.id, revokedAt: past })).key,
      (await api.make.key({ userId: user.id, expiresAt: past })).key,
      (await api.make.session({ userId: user.id, revokedAt: past })).token,
      (await api.make.session({ userId: user.id, expiresAt: past })).token,
    ];
    for (const secret of dead) await expectRefused(api, { authorization: `Bearer ${secret}` });
  });
});

describe("access", () => {
  test("a route that requires a caller returns 401 without a credential, before it reads the body", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const response = await api.request("/api/v1/things", { method: "POST", body: "{" });
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("a read key can only be used for GET and HEAD, whatever the body", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key } = await api.make.person({ scope: "read" });
    for (const method of ["GET", "HEAD"]) {
      expect((await api.request("/api/v1/caller", { key, method })).status).toBe(200);
    }
    for (const [method, path] of [
      ["POST", "/api/v1/things"],
      ["DELETE", "/api/v1/things"],
    ] as const) {
      const response = await api.request(path, { key, method, body: "{" });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: "INSUFFICIENT_SCOPE" } });
    }
  });

  test("a write key and a session can be used for writes", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key, user } = await api.make.person();
    const { token } = await api.make.session({ userId: user.id });
    for (const secret of [key, token]) {
      expect((await api.request("/api/v1/things", { key: secret, method: "DELETE" })).status).toBe(200);
    }
  });
});

describe("lastUsedAt", () => {
  async function lastUsedAt(api: TestApp, id: string): Promise<string | null> {
    const [row] = await api.db.sql<{ lastUsedAt: string | null }[]>`
      select last_used_at from api_keys where id = ${id}`;
    return row?.lastUsedAt ?? null;
  }

  test("is set on the first use, and on the next use after a minute", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user } = await api.make.person();
    for (const before of [null, "2026-01-01T00:00:00.000Z"]) {
      const { id, key } = await api.make.key({ userId: user.id, lastUsedAt: before });
      await Promise.all(Array.from({ length: 5 }, () => api.request("/api/v1/caller", { key })));
      await waitFor(async () => (await lastUsedAt(api, id)) !== before);
    }
  });

  test("is not updated within a minute", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user } = await api.make.person();
    const [now] = await api.db.sql<[{ recent: string }]>`select now() - interval '30 seconds' as recent`;
    const fresh = await api.make.key({ userId: user.id, lastUsedAt: now.recent });
    await api.request("/api/v1/caller", { key: fresh.key });
    // Uses are recorded in order. If the use of the fresh key were recorded, it would be recorded before this one.
    const stale = await api.make.key({ userId: user.id });
    await api.request("/api/v1/caller", { key: stale.key });
    await waitFor(async () => (await lastUsedAt(api, stale.id)) !== null);
    expect(await lastUsedAt(api, fresh.id)).toBe(now.recent);
  });
});
