import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { hashPassword } from "../../../../api/accounts/password_rules.ts";
import { hashSecret, mintSessionToken } from "../../../../api/http/credentials.ts";
import { auditRows, login, makeAccount, type SignedIn, signIn } from "../../../helpers/accounts/accounts.ts";
import { runJson } from "../../../helpers/accounts/admin.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

const TOKEN = /^uls_[A-Za-z0-9_-]{43}$/;

/** The app for tests that need no configuration of their own. */
let shared: TestApp;
beforeAll(async () => {
  shared = await openTestApp({ config: { rateLimitLoginPerMinute: 1000 } });
});
afterAll(() => shared[Symbol.asyncDispose]());

describe("POST /auth/login", () => {
  test("creates a session for SESSION_TTL_HOURS and returns the user", async () => {
    await using api = await openTestApp({ config: { sessionTtlHours: 2 } });
    const account = await makeAccount(api, { platformRole: "admin" });
    const before = Date.now();
    const response = await login(api, account);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { data } = (await response.json()) as { data: SignedIn };
    const { id, email, username } = account;
    expect(data).toEqual({
      sessionToken: expect.stringMatching(TOKEN),
      expiresAt: expect.any(String),
      user: { id, email, username, role: "admin" },
    });
    const lifeMs = Date.parse(data.expiresAt) - before;
    expect(lifeMs).toBeGreaterThanOrEqual(2 * 3_600_000);
    expect(lifeMs).toBeLessThan(2 * 3_600_000 + 60_000);
    expect((await api.request("/api/v1/auth/me", { key: data.sessionToken })).status).toBe(200);
  });

  test("creates a session of full length even if the API's clock is behind", async () => {
    await using api = await openTestApp({ config: { sessionTtlHours: 2 } });
    const account = await makeAccount(api);
    const clock = Date.now;
    Date.now = () => clock() - 3 * 3_600_000;
    try {
      const { sessionToken: key, expiresAt } = await signIn(api, account);
      expect(Date.parse(expiresAt) - clock()).toBeGreaterThan(3_600_000);
      expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
    } finally {
      Date.now = clock;
    }
  });

  test("sets a cookie for the new session, bound to the host if PUBLIC_URL uses https", async () => {
    for (const [publicUrl, name, end] of [
      ["http://localhost:3000", "ulr_session", ""],
      ["https://ulr.example", "__Host-ulr_session", "; Secure"],
    ] as const) {
      await using api = await openTestApp({ config: { publicUrl } });
      const response = await login(api, await makeAccount(api));
      const { data } = (await response.json()) as { data: SignedIn };
      expect(response.headers.getSetCookie()).toEqual([
        `${name}=${data.sessionToken}; HttpOnly; SameSite=Lax; Path=/; Max-Age=1209600${end}`,
      ]);
    }
  });

  test("ignores the case of the email", async () => {
    const account = await makeAccount(shared, { email: "Zoe.Mixed@Example.com" });
    for (const email of ["zoe.mixed@example.com", "ZOE.MIXED@EXAMPLE.COM"]) {
      const response = await login(shared, { ...account, email });
      expect(await response.json()).toMatchObject({ data: { user: { email: "Zoe.Mixed@Example.com" } } });
    }
  });

  test("accepts only the password that an operator set", async () => {
    const account = { email: "Ada@example.com", password: "eight or more ☂" };
    const words = ["--username", "ada", "--email", account.email, "--password", account.password];
    const { id } = await runJson(shared.db.url, ["user", "create", ...words]);
    expect(await (await login(shared, account)).json()).toMatchObject({
      data: { user: { id, username: "ada" } },
    });
    expect((await login(shared, { ...account, password: "eight or more" })).status).toBe(401);
  });

  test("stores only the token's hash and writes an audit entry without the token", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const response = await login(api, account, { headers: { "x-request-id": "sign-in-1" } });
    const { data } = (await response.json()) as { data: SignedIn };
    const [session] = await api.db.sql<{ id: string; tokenHash: Buffer }[]>`
      select id, token_hash from sessions where user_id = ${account.id}`;
    expect(session?.tokenHash.equals(hashSecret(data.sessionToken))).toBe(true);
    expect(Array.from(await auditRows(api))).toEqual([
      {
        actorType: "user",
        actorUserId: account.id,
        credentialId: session?.id,
        action: "session.create",
        subjectType: "session",
        subjectId: session?.id,
        clientRequestId: "sign-in-1",
        details: { username: account.username, expiresAt: data.expiresAt },
      },
    ]);
  });
});

describe("POST /auth/login refuses", () => {
  test("every wrong email or password with the same error, without creating a session", async () => {
    await using api = await openTestApp();
    const account = await makeAccount(api);
    const other = await makeAccount(api);
    const { email, password } = account;
    const responses = new Set<string>();
    for (const pair of [
      { email, password: `${password} ` },
      { email, password: password.toUpperCase() },
      { email, password: "x" },
      { email, password: other.password },
      { email: "nobody@example.com", password },
      { email: account.username, password },
    ]) {
      const response = await login(api, pair);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(response.headers.getSetCookie()).toEqual([]);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      responses.add(`${error.code} ${error.message} ${Object.keys(error)}`);
    }
    expect([...responses]).toEqual([
      "UNAUTHORIZED The email or the password is wrong. code,message,requestId",
    ]);
    expect(await api.db.sql`select id from sessions`).toHaveLength(0);
    for (const { action } of await auditRows(api)) expect(action).toBe("session.refuse");
  });

  test("an unknown account only after the same hashing work as for a wrong password", async () => {
    const { email } = await makeAccount(shared, { passwordHash: await hashPassword("right password") });
    const verify = spyOn(Bun.password, "verify");
    try {
      for (const address of [email, "nobody@example.com"]) {
        const response = await login(shared, { email: address, password: "wrong password" });
        expect(response.status).toBe(401);
      }
      // The salts and hashes differ, but the cost parameters are the same.
      const costs = verify.mock.calls.map(([, hash]) => String(hash).split("$").slice(1, 4).join(" "));
      expect(costs).toEqual(["argon2id v=19 m=65536,t=2,p=1", "argon2id v=19 m=65536,t=2,p=1"]);
    } finally {
      verify.mockRestore();
    }
  });

  test("a body with a missing or invalid email or password, or an unknown field", async () => {
    const { email, password } = await makeAccount(shared);
    const bodies: [unknown, string][] = [
      [undefined, "email"],
      [[], ""],
      [{ email }, "password"],
      [{ password }, "email"],
      [{ email: "", password }, "email"],
      [{ email: 7, password }, "email"],
      [{ email: "a\0b", password }, "email"],
      [{ email: "a".repeat(321), password }, "email"],
      [{ email, password: "" }, "password"],
      [{ email, password: null }, "password"],
      [{ email, password: "a".repeat(1025) }, "password"],
      [{ email, password, remember: true }, "remember"],
    ];
    for (const [body, path] of bodies) {
      const response = await shared.request("/api/v1/auth/login", { method: "POST", body });
      const { error } = (await response.json()) as {
        error: { code: string; details: { errors: { path: string }[] } };
      };
      expect([body, response.status, error.code]).toEqual([body, 400, "VALIDATION_ERROR"]);
      expect(error.details.errors.map((problem) => problem.path)).toContain(path);
    }
  });

  test("any content type but JSON, which a form on another site cannot send", async () => {
    const account = await makeAccount(shared);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const response = await login(shared, account, { headers: { "content-type": type } });
      expect([type, response.status]).toEqual([type, 415]);
    }
  });
});

describe("POST /auth/login in a browser", () => {
  test("accepts requests from programs and from this service's pages, but not from other sites", async () => {
    await using api = await openTestApp({
      config: { publicUrl: "https://ulr.example", rateLimitLoginPerMinute: 100 },
    });
    const account = await makeAccount(api);
    const status = async (headers: Record<string, string>) => (await login(api, account, { headers })).status;
    expect(await status({})).toBe(200);
    expect(await status({ origin: "https://ulr.example", "sec-fetch-site": "same-origin" })).toBe(200);
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { origin: "https://ulr.example", "sec-fetch-site": "same-site" },
    ]) {
      const response = await login(api, account, { headers });
      expect(await response.json()).toMatchObject({ error: { code: "FORBIDDEN_ORIGIN" } });
      expect(response.status).toBe(403);
    }
  });

  test("ignores an invalid session cookie, but not an invalid Authorization header", async () => {
    const account = await makeAccount(shared);
    const stale = mintSessionToken().secret;
    expect((await login(shared, account, { headers: { cookie: `ulr_session=${stale}` } })).status).toBe(200);
    expect((await login(shared, account, { key: stale })).status).toBe(401);
  });
});
