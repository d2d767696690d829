import { describe, expect, test } from "bun:test";
import { hashSecret } from "../../../api/http/credentials.ts";
import { auditRows } from "../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

const PATH = "/api/v1/auth/keys";

interface ApiKey {
  id: string;
  [field: string]: unknown;
}

/** Creates a user with an API key and a session. */
async function makeSession(api: TestApp) {
  const { user, org, key, keyId } = await api.make.person();
  const session = await api.make.session({ userId: user.id });
  return { user, org, key, keyId, token: session.token, sessionId: session.id };
}

async function createKey(api: TestApp, token: string, body: unknown = {}) {
  const response = await api.request(PATH, { method: "POST", key: token, body });
  expect(response.status).toBe(201);
  const { data } = (await response.json()) as { data: { key: string; apiKey: ApiKey } };
  return data;
}

async function listKeys(api: TestApp, token: string): Promise<ApiKey[]> {
  const response = await api.request(PATH, { key: token });
  const { data } = (await response.json()) as { data: { keys: ApiKey[] } };
  return data.keys;
}

describe("POST /auth/keys", () => {
  test("creates a working key of kind user and stores only its hash", async () => {
    await using api = await openTestApp();
    const { token, user } = await makeSession(api);
    const { key, apiKey } = await createKey(api, token);
    expect(key).toMatch(/^ulr_[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/);
    expect(apiKey).toEqual({
      id: expect.any(String),
      name: null,
      prefix: key.slice(0, 12),
      kind: "user",
      scope: "write",
      organizationId: null,
      lastUsedAt: null,
      expiresAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const [row] = await api.db.sql<{ keyHash: Buffer; userId: string }[]>`
      select key_hash, user_id from api_keys where id = ${apiKey.id}`;
    expect([row?.keyHash.equals(hashSecret(key)), row?.userId]).toEqual([true, user.id]);
    expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
  });

  test("accepts a name, a scope and an expiry with a UTC offset", async () => {
    await using api = await openTestApp();
    const { token } = await makeSession(api);
    const body = { name: "Nightly report ☂", scope: "read", expiresAt: "2999-01-01T02:00:00.1239+02:00" };
    const { key, apiKey } = await createKey(api, token, body);
    expect(apiKey).toMatchObject({ ...body, expiresAt: "2999-01-01T00:00:00.123Z" });
    expect((await api.request("/api/v1/auth/me", { key })).status).toBe(200);
    const write = await api.request(PATH, { method: "POST", key, body: {} });
    expect(write.status).toBe(403);
  });

  test("accepts a request without a body", async () => {
    await using api = await openTestApp();
    const { token } = await makeSession(api);
    expect((await api.request(PATH, { method: "POST", key: token })).status).toBe(201);
  });

  test("writes an audit entry that does not contain the key", async () => {
    await using api = await openTestApp();
    const { token, user, sessionId } = await makeSession(api);
    const { apiKey } = await createKey(api, token, { scope: "read" });
    expect(Array.from(await auditRows(api))).toEqual([
      {
        actorType: "user",
        actorUserId: user.id,
        credentialId: sessionId,
        action: "key.create",
        subjectType: "api_key",
        subjectId: apiKey.id,
        clientRequestId: null,
        details: {
          username: user.username,
          prefix: apiKey["prefix"],
          kind: "user",
          scope: "read",
          expiresAt: null,
        },
      },
    ]);
  });

  test("rejects unknown fields, invalid values and an expiry in the past", async () => {
    await using api = await openTestApp();
    const { token } = await makeSession(api);
    const bodies: [unknown, string][] = [
      [{ kind: "system" }, "kind"],
      [{ organizationId: crypto.randomUUID() }, "organizationId"],
      [{ scope: "admin" }, "scope"],
      [{ name: "" }, "name"],
      [{ name: "a\0b" }, "name"],
      [{ name: "a".repeat(201) }, "name"],
      [{ expiresAt: 4_102_444_800 }, "expiresAt"],
      [{ expiresAt: "tomorrow" }, "expiresAt"],
      [{ expiresAt: "2999-02-31T00:00:00Z" }, "expiresAt"],
      [{ expiresAt: "2999-01-01T00:00:00" }, "expiresAt"],
      [{ expiresAt: "2026-01-01T00:00:00Z" }, "expiresAt"],
    ];
    for (const [body, path] of bodies) {
      const response = await api.request(PATH, { method: "POST", key: token, body });
      expect([body, response.status]).toEqual([body, 400]);
      expect(await response.json()).toMatchObject({
        error: { code: "VALIDATION_ERROR", details: { errors: [{ path }] } },
      });
    }
    expect(await api.db.sql`select 1 from api_keys`).toHaveLength(1);
  });
});

test("POST /auth/keys refuses a name that would not be displayed as it is stored", async () => {
  await using api = await openTestApp();
  const { token } = await makeSession(api);
  for (const [body, message] of [
    ['{"name":"safe\u202Eyek"}', "U+202E"],
    ['{"name":"one\\ntwo"}', "U+000A"],
    ['{"name":"one\\u2028two"}', "U+2028"],
    ['{"name":"nul\\u0000"}', "U+0000"],
    ['{"name":"half \\ud83e"}', "well-formed"],
    ['{"name":"  "}', "must not be empty"],
    ['{"name":"\\u3164"}', "visible character"],
  ]) {
    const headers = { "content-type": "application/json" };
    const response = await api.request(PATH, { method: "POST", key: token, headers, body });
    expect([body, response.status, await response.text()]).toEqual([
      ...[body, 400, expect.stringContaining(message as string)],
    ]);
  }
  const { apiKey } = await createKey(api, token, { name: "\u200Fמפתח 🦊" });
  expect(apiKey["name"]).toBe("\u200Fמפתח 🦊");
});

describe("POST /auth/keys limits", () => {
  test("refuses to bind a key to an organization that removes the caller during the request", async () => {
    await using api = await openTestApp();
    const { token, user, org } = await makeSession(api);
    const response = await commitDuring(
      api.db,
      (tx) => tx`delete from organization_members where org_id = ${org.id} and user_id = ${user.id}`,
      () => api.request(PATH, { method: "POST", key: token, body: { organization: org.slug } }),
    );
    expect(response.status).toBe(403);
    expect(await api.db.sql`select 1 from api_keys where org_id = ${org.id}`).toHaveLength(0);
  });

  test("binds a key only to the caller's organizations", async () => {
    await using api = await openTestApp();
    const { token, org } = await makeSession(api);
    const stranger = await makeSession(api);
    const { key, apiKey } = await createKey(api, token, { organization: org.slug });
    expect(apiKey["organizationId"]).toBe(org.id);
    const me = await api.request("/api/v1/auth/me", { key });
    expect(await me.json()).toMatchObject({ data: { organizations: [{ id: org.id }] } });
    for (const organization of [stranger.org.slug, "no-such-organization"]) {
      const body = { organization };
      const response = await api.request(PATH, { method: "POST", key: token, body });
      expect([organization, response.status]).toEqual([organization, 403]);
      expect(await response.json()).toMatchObject({ error: { code: "ORG_ACCESS_DENIED" } });
    }
  });

  test("allows 100 live keys per user, even under concurrent requests, not counting revoked and expired keys", async () => {
    await using api = await openTestApp();
    const { token, user } = await makeSession(api);
    const past = "2026-01-01T00:00:00.000Z";
    for (let made = 0; made < 96; made += 1) await api.make.key({ userId: user.id });
    await api.make.key({ userId: user.id, revokedAt: past });
    await api.make.key({ userId: user.id, expiresAt: past });
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => api.request(PATH, { method: "POST", key: token, body: {} })),
    );
    // With the key of makeSession(), 97 active keys exist. The limit allows three more.
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409]);
    const refused = responses.find(({ status }) => status === 409);
    expect(await refused?.json()).toMatchObject({
      error: { code: "QUOTA_EXCEEDED", details: { quota: "keys", limit: 100 } },
    });
  });
});

describe("GET /auth/keys", () => {
  test("lists the user's keys newest first, without hashes, including expired but not revoked keys", async () => {
    await using api = await openTestApp();
    const { token, user, org, keyId } = await makeSession(api);
    await makeSession(api);
    const past = "2026-01-01T00:00:00.000Z";
    const bound = { userId: user.id, orgId: org.id, kind: "automation", scope: "read", name: "CI" } as const;
    const { id } = await api.make.key({ ...bound, expiresAt: past, lastUsedAt: past });
    await api.make.key({ userId: user.id, revokedAt: past });
    const made = await createKey(api, token);
    const keys = await listKeys(api, token);
    expect(keys.map((key) => key.id).toSorted()).toEqual([keyId, id, made.apiKey.id].toSorted());
    const times = keys.map((key) => String(key["createdAt"]));
    expect(times).toEqual(times.toSorted().toReversed());
    expect(keys.find((key) => key.id === id)).toEqual({
      id,
      name: "CI",
      prefix: expect.stringMatching(/^ulr_.{8}$/),
      kind: "automation",
      scope: "read",
      organizationId: org.id,
      lastUsedAt: past,
      expiresAt: past,
      createdAt: expect.any(String),
    });
  });
});

describe("DELETE /auth/keys/{id}", () => {
  test("revokes the key immediately, removes it from the list and writes an audit entry", async () => {
    await using api = await openTestApp();
    const { token, user, key, keyId, sessionId } = await makeSession(api);
    const response = await api.request(`${PATH}/${keyId.toUpperCase()}`, { method: "DELETE", key: token });
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect((await api.request("/api/v1/auth/me", { key })).status).toBe(401);
    expect(await listKeys(api, token)).toEqual([]);
    expect(Array.from(await auditRows(api))).toMatchObject([
      {
        actorUserId: user.id,
        credentialId: sessionId,
        action: "key.revoke",
        subjectType: "api_key",
        subjectId: keyId,
      },
    ]);
  });

  test("returns 404 for another user's key, a revoked key and an unknown id", async () => {
    await using api = await openTestApp();
    const { token, keyId } = await makeSession(api);
    const stranger = await makeSession(api);
    await api.request(`${PATH}/${keyId}`, { method: "DELETE", key: token });
    for (const id of [stranger.keyId, keyId, crypto.randomUUID(), "x", "%00"]) {
      const response = await api.request(`${PATH}/${id}`, { method: "DELETE", key: token });
      if (id === "%00") expect(response.status).toBe(400);
      else {
        expect([id, response.status]).toEqual([id, 404]);
        expect(await response.json()).toMatchObject({
          error: { code: "NOT_FOUND", details: { reason: "key" } },
        });
      }
    }
    expect((await api.request("/api/v1/auth/me", { key: stranger.key })).status).toBe(200);
  });
});

test("key routes return 403 for API keys and 401 for anonymous callers", async () => {
  await using api = await openTestApp();
  for (const [method, path] of [
    ["GET", PATH],
    ["POST", PATH],
    ["DELETE", `${PATH}/${crypto.randomUUID()}`],
  ] as const) {
    for (const options of [{}, { kind: "automation" }, { kind: "system" }, { scope: "read" }] as const) {
      const { key } = await api.make.person(options);
      const response = await api.request(path, { method, key });
      expect([method, response.status]).toEqual([method, 403]);
      expect(await response.json()).toMatchObject({ error: { code: "SESSION_REQUIRED" } });
    }
    expect((await api.request(path, { method })).status).toBe(401);
  }
});
