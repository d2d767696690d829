/** The page of an organization's usage. */
import { expect, test } from "bun:test";
import { makeVersion } from "../../../helpers/definitions/definition_list.ts";
import { makePlatformAdmin } from "../../../helpers/definitions/executions.ts";
import { openPageScene, readPage } from "../../../helpers/pages/page_scene.ts";

test("executions of the organization's definitions are summed by day, without those of other organizations", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const other = await api.make.person();
  const of = { orgId: org.id, authorId: owner.user.id };
  await makeVersion(api.db.sql, { ...of, name: "open-one" });
  await makeVersion(api.db.sql, { ...of, name: "hidden-one", visibility: "private" });
  await makeVersion(api.db.sql, { ...of, name: "idle-one" });
  await makeVersion(api.db.sql, { orgId: other.org.id, authorId: other.user.id, name: "foreign-one" });
  const draft = { version: "1.1.0", status: "draft", displayName: "Title of the draft" } as const;
  await makeVersion(api.db.sql, { ...of, name: "open-one", ...draft });
  const { key } = await makePlatformAdmin(api);
  const run = async (slug: string, name: string) => {
    const path = `/api/v1/definitions/agent/@${slug}/${name}/executions`;
    const { status } = await api.request(path, { method: "POST", key, body: { source: "cli" } });
    expect(status).toBe(201);
  };
  for (const name of ["open-one", "open-one", "hidden-one"]) await run(org.slug, name);
  await run(other.org.slug, "foreign-one");
  const page = await readPage(api, `/orgs/${org.slug}/usage`, owner.token);
  // Adds up all days, because the executions may fall on both sides of midnight.
  const counts = [...page.matchAll(/<th scope="row">\d{4}-\d\d-\d\d<\/th><td class="number">(\d+)<\/td>/g)];
  expect(counts.length).toBeGreaterThanOrEqual(30);
  expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(3);
  expect(page).toContain(`href="/definitions/agent/@${org.slug}/open-one">open-one</a>`);
  expect(page).toMatch(
    /open-one<\/a> <a href="[^"]+@1\.1\.0">draft 1\.1\.0<\/a><\/th>\s*<td[^>]*>agent<\/td>\s*<td[^>]*>2<\/td>/,
  );
  expect(page).toMatch(/hidden-one<\/a> <\/th>\s*<td[^>]*>agent<\/td>\s*<td[^>]*>1<\/td>/);
  expect(page).not.toContain("idle-one");
  expect(page).not.toContain("foreign-one");
});

test("an organization without definitions has no plot", async () => {
  await using scene = await openPageScene();
  const page = await readPage(scene.api, `/orgs/${scene.org.slug}/usage`, scene.owner.token);
  expect(page).toContain("No executions yet.");
  expect(page).not.toContain("<svg");
});
