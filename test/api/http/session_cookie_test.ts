import { describe, expect, test } from "bun:test";
import { mintSessionToken } from "../../../api/http/credentials.ts";
import { makeAccount } from "../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { probeRoutes } from "../../helpers/http/probe_routes.ts";

const CLEARED = "ulr_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0";

async function makeCookie(api: TestApp) {
  const { user, key } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  return { user, key, token, cookie: `ulr_session=${token}` };
}

describe("the session cookie", () => {
  test("is accepted for reads from any origin, and the response is private", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user, cookie } = await makeCookie(api);
    for (const headers of [
      { cookie },
      { cookie: `theme=dark; ${cookie}; other=1` },
      { cookie, "sec-fetch-site": "cross-site" },
      { cookie, origin: "https://evil.example" },
    ]) {
      const response = await api.request("/api/v1/caller", { headers });
      expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(await response.json()).toMatchObject({ data: { userId: user.id } });
      expect((await api.request("/api/v1/caller", { method: "HEAD", headers })).status).toBe(200);
    }
    const visit = await api.request("/api/v1/visitor", { headers: { cookie } });
    expect(await visit.json()).toEqual({ data: { userId: user.id } });
  });

  test("is accepted for writes from pages of this service", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { publicUrl: "http://ulr.example:8080/base" },
    });
    const { cookie } = await makeCookie(api);
    for (const headers of [
      { origin: "http://ulr.example:8080" },
      { origin: "http://localhost" },
      { "sec-fetch-site": "same-origin" },
      { origin: "http://ulr.example:8080", "sec-fetch-site": "same-origin" },
    ]) {
      const response = await api.request("/api/v1/things", {
        method: "DELETE",
        headers: { cookie, ...headers },
      });
      expect([headers, response.status]).toEqual([headers, 200]);
    }
  });

  test("is refused for writes from other pages, and from browsers that do not name the sending page", async () => {
    await using api = await openTestApp({
      routes: probeRoutes(),
      config: { publicUrl: "https://ulr.example" },
    });
    const { token } = await makeCookie(api);
    const cookie = `__Host-ulr_session=${token}`;
    for (const headers of [
      {},
      { origin: "null" },
      { origin: "https://evil.example" },
      { origin: "https://ulr.example.evil.example" },
      { origin: "https://ulr.example:8443" },
      // The same host without TLS: a network attacker can forge its pages.
      { origin: "http://ulr.example" },
      { origin: "http://localhost" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { origin: "https://ulr.example", "sec-fetch-site": "cross-site" },
      { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
    ]) {
      for (const [method, path] of [
        ["DELETE", "/api/v1/things"],
        ["POST", "/api/v1/things"],
      ] as const) {
        const response = await api.request(path, { method, headers: { cookie, ...headers }, body: "{" });
        expect([headers, response.status]).toEqual([headers, 403]);
        expect(await response.json()).toMatchObject({ error: { code: "FORBIDDEN_ORIGIN" } });
      }
    }
  });

  test("is ignored if there is an Authorization header, and that header works from any page", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { key, cookie } = await makeCookie(api);
    const headers = { cookie, origin: "https://evil.example" };
    expect((await api.request("/api/v1/things", { method: "DELETE", key, headers })).status).toBe(200);
    const wrong = await api.request("/api/v1/caller", { key: mintSessionToken().secret, headers });
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []]);
  });

  test("for an ended session returns 401 on every route and is deleted", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user } = await makeCookie(api);
    const past = "2026-01-01T00:00:00.000Z";
    for (const token of [
      mintSessionToken().secret,
      (await api.make.session({ userId: user.id, revokedAt: past })).token,
      (await api.make.session({ userId: user.id, expiresAt: past })).token,
    ]) {
      for (const path of ["/api/v1/caller", "/api/v1/visitor", "/api/v1/nowhere"]) {
        const response = await api.request(path, { headers: { cookie: `ulr_session=${token}` } });
        expect([response.status, response.headers.getSetCookie()]).toEqual([401, [CLEARED]]);
      }
    }
  });

  test("is ignored if it is another application's cookie or contains no session token", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const { user, key, token, cookie } = await makeCookie(api);
    for (const foreign of [
      ...[`session=${token}`, "session=abc.def", `__Host-ulr_session=${token}`, `ulr_sessions=${token}`],
      ...[`ulr_session=${key}`, "ulr_session=abc.def", "ulr_session= x", `ulr_session=${token}x y`],
      ...["ulr_session=", "ulr_session", `ulr_session=${token}=x`],
    ]) {
      const visit = await api.request("/api/v1/visitor", { headers: { cookie: foreign } });
      expect([foreign, visit.status, visit.headers.getSetCookie()]).toEqual([foreign, 200, []]);
      expect(await visit.json()).toEqual({ data: { userId: null } });
      const calls = await api.request("/api/v1/caller", { headers: { cookie: foreign } });
      expect([calls.status, calls.headers.getSetCookie()]).toEqual([401, []]);
      const both = { cookie: `${foreign}; ${cookie}` };
      const own = await api.request("/api/v1/caller", { headers: both });
      expect(await own.json()).toMatchObject({ data: { userId: user.id } });
    }
  });
});

describe("a session cookie that an attacker may have set", () => {
  test("is rejected if there are two session cookies, and neither cookie is deleted", async () => {
    await using api = await openTestApp({ routes: probeRoutes() });
    const [own, foreign] = [await makeCookie(api), await makeCookie(api)];
    for (const other of [foreign.token, own.token, mintSessionToken().secret]) {
      for (const cookie of [`ulr_session=${other}; ${own.cookie}`, `${own.cookie}; ulr_session=${other}`]) {
        const response = await api.request("/api/v1/visitor", { headers: { cookie } });
        expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
      }
    }
  });

  test("is named __Host-ulr_session if PUBLIC_URL uses https, and then cookies with other names are ignored", async () => {
    await using api = await openTestApp({ config: { publicUrl: "https://ulr.example" } });
    const account = await makeAccount(api);
    const response = await api.request("/api/v1/auth/login", {
      method: "POST",
      body: { email: account.email, password: account.password },
    });
    const { data } = (await response.json()) as { data: { sessionToken: string } };
    expect(response.headers.getSetCookie()).toEqual([
      `__Host-ulr_session=${data.sessionToken}; HttpOnly; SameSite=Lax; Path=/; Max-Age=1209600; Secure`,
    ]);
    const ask = async (cookie: string) =>
      (await api.request("/api/v1/auth/me", { headers: { cookie } })).status;
    expect(await ask(`__Host-ulr_session=${data.sessionToken}`)).toBe(200);
    expect(await ask(`ulr_session=${data.sessionToken}`)).toBe(401);
    // A sibling host of the same domain can set a cookie with the short name. Such a cookie has no effect.
    expect(
      await ask(`ulr_session=${mintSessionToken().secret}; __Host-ulr_session=${data.sessionToken}`),
    ).toBe(200);
    const document = await (await api.request("/swagger/json")).json();
    expect(document).toMatchObject({
      components: { securitySchemes: { cookie: { name: "__Host-ulr_session" } } },
    });
  });
});
