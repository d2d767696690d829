import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

function listProjects(api: TestApp, key: string, slug: string): Promise<Response> {
  return api.request(`/api/v1/orgs/${slug}/projects`, { key });
}

describe("GET /orgs/{slug}/projects", () => {
  test("lists the organization's projects by name, without deleted ones", async () => {
    await using api = await openTestApp();
    const { user, org, key } = await api.make.person({ role: "viewer", tier: "free" });
    const owned = { orgId: org.id, ownerId: user.id };
    const createdAt = "2026-03-01T08:00:00.000Z";
    const zebra = await api.make.project({ ...owned, name: "zebra", slug: "a-zebra", createdAt });
    const apple = await api.make.project({ ...owned, name: "apple ☂", slug: "z-apple", createdAt });
    await api.make.project({ ...owned, name: "gone", deletedAt: createdAt });
    const stranger = await api.make.person();
    await api.make.project({ orgId: stranger.org.id, ownerId: stranger.user.id });
    const response = await listProjects(api, key, org.slug);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await response.json()).toEqual({
      data: {
        projects: [
          { id: apple.id, name: "apple ☂", slug: "z-apple", createdAt },
          { id: zebra.id, name: "zebra", slug: "a-zebra", createdAt },
        ],
        total: 2,
      },
    });
  });

  test("is an empty list for an organization without projects", async () => {
    await using api = await openTestApp();
    const { key, personalOrg } = await api.make.person();
    const response = await listProjects(api, key, personalOrg.slug);
    expect(await response.json()).toEqual({ data: { projects: [], total: 0 } });
  });
});
