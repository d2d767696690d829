import { expect, test } from "bun:test";
import { makeCountedRegistry } from "../../../../helpers/definitions/counted_registry.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";

async function get(api: TestApp, path: string, key?: string) {
  const response = await api.request(`/api/v1/orgs${path}`, key ? { key } : {});
  return { status: response.status, body: (await response.json()) as unknown };
}

test("usage counts definitions by the visibility of their highest version that is not archived", async () => {
  await using api = await openTestApp();
  const person = await api.make.person({ role: "viewer" });
  const empty = await get(api, `/${person.org.slug}/usage`, person.key);
  expect(empty).toEqual({ status: 200, body: { data: { private: 0, public: 0, total: 0 } } });
  await makeCountedRegistry(api, person);
  const counted = await get(api, `/${person.org.slug}/usage`, person.key);
  expect(counted).toEqual({ status: 200, body: { data: { private: 3, public: 3, total: 6 } } });
});
