import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/app.ts";
import { refusalOf } from "../../helpers/export_job.ts";

function listProjects(api: TestApp, key: string | null, slug: string): Promise<Response> {
  return api.request(`/api/v1/orgs/${slug}/projects`, key === null ? {} : { key });
}

describe("GET /orgs/{slug}/projects", () => {
  test("lists what the organization has by name, and nothing that is deleted or others'", async () => {
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

  test("refuses anonymous callers, and whoever is no member without telling whether there is one", async () => {
    await using api = await openTestApp();
    const { user, org, key } = await api.make.person();
    const stranger = await api.make.person();
    expect(await refusalOf(await listProjects(api, null, org.slug))).toEqual([401, "UNAUTHORIZED"]);
    const answers = new Set<string>();
    for (const slug of [stranger.org.slug, "no-such-org", "a'b", "x".repeat(500), org.slug.toUpperCase()]) {
      const response = await listProjects(api, key, slug);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      answers.add(`${response.status} ${error.code} ${error.message} ${Object.keys(error)}`);
    }
    expect([...answers]).toEqual([
      "403 ORG_ACCESS_DENIED Cannot act for this organization: the caller is not a member code,message,requestId",
    ]);
    const bound = await api.make.key({ userId: user.id, orgId: org.id });
    const personal = await listProjects(api, bound.key, user.username);
    expect(await refusalOf(personal)).toEqual([403, "ORG_ACCESS_DENIED"]);
    expect((await listProjects(api, bound.key, org.slug)).status).toBe(200);
  });
});
