import { describe, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

function listProjects(api: TestApp, key: string, slug: string, query = ""): Promise<Response> {
  return api.request(`/api/v1/orgs/${slug}/projects${query}`, { key });
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

  test("returns an empty list for an organization without projects", async () => {
    await using api = await openTestApp();
    const { key, personalOrg } = await api.make.person();
    const response = await listProjects(api, key, personalOrg.slug);
    expect(await response.json()).toEqual({ data: { projects: [], total: 0 } });
  });

  test("lists a page of projects, or only the project with the given id or slug", async () => {
    await using api = await openTestApp();
    const { user, org, key } = await api.make.person({ role: "viewer", tier: "free" });
    const add = (name: string) =>
      api.make.project({ orgId: org.id, ownerId: user.id, name, slug: `of-${name}` });
    const [a] = [await add("a"), await add("b"), await add("c")];
    const names = async (query: string) => {
      const { data } = (await (await listProjects(api, key, org.slug, query)).json()) as {
        data: { projects: { name: string }[]; total: number };
      };
      return [data.projects.map(({ name }) => name).join(""), data.total];
    };
    expect(await names("?limit=2")).toEqual(["ab", 3]);
    expect(await names("?limit=2&offset=2")).toEqual(["c", 3]);
    expect(await names("?offset=1")).toEqual(["bc", 3]);
    expect(await names("?limit=2&offset=9")).toEqual(["", 3]);
    expect(await names(`?project=${a?.id}`)).toEqual(["a", 1]);
    expect(await names("?project=of-b")).toEqual(["b", 1]);
    expect(await names("?project=nothing&limit=2")).toEqual(["", 0]);
    for (const query of ["?limit=0", "?limit=201", "?offset=-1", "?page=2"])
      expect([query, (await listProjects(api, key, org.slug, query)).status]).toEqual([query, 400]);
  });
});

test("GET /orgs/{slug}/projects/deleted lists pages, most recently deleted projects first", async () => {
  await using api = await openTestApp();
  const { user, org, key } = await api.make.person({ role: "admin" });
  for (const name of ["a", "b", "c"]) {
    const deletedAt = new Date(Date.now() - 60_000 * name.charCodeAt(0)).toISOString();
    await api.make.project({ orgId: org.id, ownerId: user.id, name, deletedAt });
  }
  const names = async (query: string) => {
    const response = await listProjects(api, key, org.slug, `/deleted${query}`);
    const { data } = (await response.json()) as { data: { projects: { name: string }[]; total: number } };
    return [data.projects.map(({ name }) => name).join(""), data.total];
  };
  expect(await names("")).toEqual(["abc", 3]);
  expect(await names("?limit=2")).toEqual(["ab", 3]);
  expect(await names("?limit=2&offset=2")).toEqual(["c", 3]);
  expect(await names("?limit=2&offset=4")).toEqual(["", 3]);
});
