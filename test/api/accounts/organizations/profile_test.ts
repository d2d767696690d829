import { expect, test } from "bun:test";
import { makeCountedRegistry } from "../../../helpers/definitions/counted_registry.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

async function get(api: TestApp, path: string, key?: string) {
  const response = await api.request(`/api/v1/orgs${path}`, key ? { key } : {});
  return { status: response.status, body: (await response.json()) as unknown };
}

test("an organization's profile is public and counts only public definitions", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeCountedRegistry(api, person);
  await api.db.sql`update organizations set description = 'We look' where id = ${person.org.id}`;
  const { slug, name } = person.org;
  expect(await get(api, `/${slug}/profile`)).toEqual({
    status: 200,
    body: {
      data: {
        slug,
        name,
        description: "We look",
        websiteUrl: null,
        isPersonal: false,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        publicDefinitions: 3,
        totalExecutions: 1_000_011,
      },
    },
  });
  expect(await get(api, `/${person.personalOrg.slug}/profile`)).toMatchObject({
    body: { data: { isPersonal: true, publicDefinitions: 0, totalExecutions: 0 } },
  });
  expect(await get(api, "/no-such-org/profile")).toMatchObject({
    status: 404,
    body: { error: { code: "ORG_NOT_FOUND" } },
  });
  expect((await get(api, `/${slug}/profile`, "ulr_wrong")).status).toBe(401);
});
