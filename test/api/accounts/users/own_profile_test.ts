import { describe, expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";

describe("PATCH /users/me", () => {
  const PATH = "/api/v1/users/me";

  test("changes the given fields, keeps the others and unsets fields with null", async () => {
    await using api = await openTestApp();
    const { id, username } = await api.make.user({ name: "Ann", bio: "Before" });
    const { token: key } = await api.make.session({ userId: id });
    const body = { bio: "Builds agents", websiteUrl: "https://ann.example/a?b=c" };
    const response = await api.request(PATH, { method: "PATCH", key, body });
    expect(response.status).toBe(200);
    const profile = { id, username, name: "Ann", ...body, avatar: null, avatarMimeType: null };
    expect(await response.json()).toEqual({ data: profile });
    await api.request(PATH, { method: "PATCH", key, body: { name: null } });
    const shown = await api.request(`/api/v1/users/${id}`);
    expect(await shown.json()).toEqual({ data: { ...profile, name: null } });
    const unchanged = await api.request(PATH, { method: "PATCH", key, body: {} });
    expect(unchanged.status).toBe(200);
    const rows = await api.db.sql`select details from audit_log order by id`;
    expect(rows.map(({ details }) => details)).toEqual([
      { username, changed: "bio, websiteUrl" },
      { username, changed: "name" },
    ]);
  });

  test("accepts names in any script and counts an emoji as one character", async () => {
    await using api = await openTestApp();
    const { id } = await api.make.user();
    const { token: key } = await api.make.session({ userId: id });
    for (const name of ["🦀".repeat(200), "한글", "支払い", "நி", "7", "★"]) {
      const response = await api.request(PATH, { method: "PATCH", key, body: { name } });
      expect([name, response.status]).toEqual([name, 200]);
    }
  });

  test("rejects long values, invalid links and unknown fields", async () => {
    await using api = await openTestApp();
    const { id } = await api.make.user();
    const { token: key } = await api.make.session({ userId: id });
    for (const [body, path] of [
      [{ name: "x".repeat(201) }, "name"],
      [{ name: " " }, "name"],
      [{ name: "two\nlines" }, "name"],
      [{ name: "\u202enna" }, "name"],
      [{ name: "\u200b" }, "name"],
      [{ name: "\u3164\u2800\u0301" }, "name"],
      [{ bio: "x".repeat(2001) }, "bio"],
      [{ bio: "a\0b" }, "bio"],
      [{ bio: "half \ud83e" }, "bio"],
      [{ websiteUrl: "javascript:alert(1)" }, "websiteUrl"],
      [{ websiteUrl: "ann.example" }, "websiteUrl"],
      [{ websiteUrl: 7 }, "websiteUrl"],
      [{ email: "new@example.com" }, "email"],
      [{ platformRole: "admin" }, "platformRole"],
    ] as const) {
      const response = await api.request(PATH, { method: "PATCH", key, body });
      const { error } = (await response.json()) as { error: { details: { errors: { path: string }[] } } };
      expect([body, response.status, error.details.errors.map((problem) => problem.path)]).toEqual([
        ...[body, 400],
        expect.arrayContaining([path]),
      ]);
    }
  });
});
