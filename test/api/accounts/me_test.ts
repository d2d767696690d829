import { describe, expect, test } from "bun:test";
import { openTestApp } from "../../helpers/http/app.ts";

describe("GET /auth/me", () => {
  test("returns the session's user and their organizations, sorted by slug", async () => {
    await using api = await openTestApp();
    const { user, personalOrg, org } = await api.make.person({ role: "viewer", tier: "plus" });
    await api.make.person();
    const { token } = await api.make.session({ userId: user.id });
    const organizations = [
      {
        ...personalOrg,
        role: "owner",
        subscriptionTier: "free",
        isPersonal: true,
        needsSecondFactor: false,
        deletesAt: null,
      },
      {
        ...org,
        role: "viewer",
        subscriptionTier: "plus",
        isPersonal: false,
        needsSecondFactor: false,
        deletesAt: null,
      },
    ].toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    const response = await api.request("/api/v1/auth/me", { key: token });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { id, email, username } = user;
    expect(await response.json()).toEqual({
      data: {
        user: { id, email, username, name: null, role: "user" },
        organizations,
        credential: { type: "session", expiresAt: "2999-01-01T00:00:00.000Z" },
      },
    });
  });

  test("returns the kind, scope and expiry of the caller's API key", async () => {
    await using api = await openTestApp();
    const { user } = await api.make.person();
    const { key } = await api.make.key({
      userId: user.id,
      kind: "system",
      scope: "read",
      expiresAt: "2998-01-01T00:00:00.000Z",
    });
    expect(await (await api.request("/api/v1/auth/me", { key })).json()).toMatchObject({
      data: {
        credential: { type: "key", kind: "system", scope: "read", expiresAt: "2998-01-01T00:00:00.000Z" },
      },
    });
  });

  test("lists only the organization that the key is bound to", async () => {
    await using api = await openTestApp();
    const { user, org } = await api.make.person();
    const { key } = await api.make.key({ userId: user.id, orgId: org.id });
    const { data } = (await (await api.request("/api/v1/auth/me", { key })).json()) as {
      data: { organizations: { id: string }[]; credential: object };
    };
    expect(data.organizations.map(({ id }) => id)).toEqual([org.id]);
    expect(data.credential).toEqual({ type: "key", kind: "user", scope: "write", expiresAt: null });
  });

  test("returns 401 for anonymous callers", async () => {
    await using api = await openTestApp();
    const response = await api.request("/api/v1/auth/me");
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});
