import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

const BATCH = "/api/v1/users/batch";

async function batch(api: TestApp, ids: unknown, key?: string) {
  const response = await api.request(BATCH, { method: "POST", body: { ids }, ...(key ? { key } : {}) });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

describe("GET /users/{id}", () => {
  test("shows everyone a public profile, with null for unset fields and no private fields", async () => {
    await using api = await openTestApp();
    const plain = await api.make.user({});
    const full = await api.make.user({
      name: "Ann",
      bio: "Reads code",
      websiteUrl: "https://example.com/",
      avatar: "avatars/ann",
      avatarMimeType: "image/png",
    });
    const show = async (id: string) => (await api.request(`/api/v1/users/${id}`)).json();
    expect(await show(plain.id)).toEqual({
      data: {
        id: plain.id,
        username: plain.username,
        name: null,
        bio: null,
        websiteUrl: null,
        avatar: null,
        avatarMimeType: null,
      },
    });
    expect(await show(full.id.toUpperCase())).toEqual({
      data: {
        id: full.id,
        username: full.username,
        name: "Ann",
        bio: "Reads code",
        websiteUrl: "https://example.com/",
        avatar: "avatars/ann",
        avatarMimeType: "image/png",
      },
    });
  });

  test("returns 404 for an unknown id and 400 for an id that is not a UUID", async () => {
    await using api = await openTestApp();
    const nobody = await api.request(`/api/v1/users/${crypto.randomUUID()}`);
    const { error } = (await nobody.json()) as { error: object };
    expect([nobody.status, error]).toMatchObject([404, { code: "NOT_FOUND", details: { reason: "user" } }]);
    const nonsense = await api.request("/api/v1/users/ann");
    expect([nonsense.status, await nonsense.json()]).toMatchObject([
      400,
      {
        error: { code: "VALIDATION_ERROR", details: { errors: [{ path: "id", message: "must be a UUID" }] } },
      },
    ]);
  });

  test("refuses an invalid key although the route requires no credential", async () => {
    await using api = await openTestApp();
    const { id } = await api.make.user({});
    expect((await api.request(`/api/v1/users/${id}`, { key: "ulr_wrong" })).status).toBe(401);
  });
});

describe("POST /users/batch", () => {
  test("maps lower-case ids to profiles and omits unknown ids", async () => {
    await using api = await openTestApp();
    const [ann, bob] = [await api.make.user({}), await api.make.user({})];
    const ids = [ann.id.toUpperCase(), bob.id, ann.id, crypto.randomUUID()];
    const { status, body } = await batch(api, ids);
    const { data } = body as unknown as { data: Record<string, { username: string }> };
    expect(status).toBe(200);
    expect(Object.keys(data).sort()).toEqual([ann.id, bob.id].sort());
    expect([data[ann.id]?.username, data[bob.id]?.username]).toEqual([ann.username, bob.username]);
  });

  test("accepts from 1 to 100 ids", async () => {
    await using api = await openTestApp();
    const ids = Array.from({ length: 101 }, () => crypto.randomUUID());
    expect((await batch(api, ids.slice(1))).status).toBe(200);
    expect(await batch(api, ids)).toMatchObject({
      status: 422,
      body: { error: { code: "UNPROCESSABLE_ENTITY", details: { errors: [{ path: "ids" }] } } },
    });
    expect((await batch(api, [])).status).toBe(422);
  });

  test.each([
    ["a string instead of a list", "x", ["ids"]],
    ["missing ids", undefined, ["ids"]],
    ["null", null, ["ids"]],
    ["items that are not UUIDs", [crypto.randomUUID(), "x", 7, null], ["ids.1", "ids.2", "ids.3"]],
  ])("refuses %s with 422 and reports the path", async (_, ids, paths) => {
    await using api = await openTestApp();
    const { status, body } = await batch(api, ids);
    const { error } = body as unknown as { error: { code: string; details: { errors: { path: string }[] } } };
    expect([status, error.code]).toEqual([422, "UNPROCESSABLE_ENTITY"]);
    expect(error.details.errors.map(({ path }) => path)).toEqual(paths);
  });

  test("returns 422 for a body without ids and 400 for a body that is not a JSON object", async () => {
    await using api = await openTestApp();
    const send = async (body?: unknown) =>
      (await api.request(BATCH, { method: "POST", headers: { "content-type": "application/json" }, body }))
        .status;
    expect([await send(), await send("{}"), await send('{"ids": "x"}')]).toEqual([422, 422, 422]);
    expect([await send("[]"), await send('"x"'), await send("null"), await send("{")]).toEqual([
      400, 400, 400, 400,
    ]);
  });

  test("counts as a read, so it is open to read keys and to pages on other sites", async () => {
    await using api = await openTestApp();
    const { user } = await api.make.person();
    const { key } = await api.make.key({ userId: user.id, scope: "read" });
    expect((await batch(api, [user.id], key)).status).toBe(200);
    const { token } = await api.make.session({ userId: user.id });
    const foreign = await api.request(BATCH, {
      method: "POST",
      headers: { cookie: `ulr_session=${token}`, origin: "https://elsewhere.example" },
      body: { ids: [user.id] },
    });
    expect(foreign.status).toBe(200);
  });
});
