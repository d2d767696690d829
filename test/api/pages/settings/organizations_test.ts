import { expect, test } from "bun:test";
import { noticeAfter, openPage } from "../../../helpers/pages/forms.ts";
import { openPageScene, readPage, submitForm } from "../../../helpers/pages/page_scene.ts";

const PATH = "/settings/organizations";
const heading = "new-title";

test("the page lists the user's organizations, and its form creates an organization and leads to its projects", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const { token } = owner;
  const list = await readPage(api, PATH, token);
  expect(list).toContain(`href="/orgs/${org.slug}"`);
  expect(list).toContain('<span class="badge">personal</span>');
  const sent = await submitForm(api, PATH, { token, heading, fields: { name: "Acme", slug: " Acme " } });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/orgs/acme/projects"]);
  expect(await noticeAfter(api, sent, token)).toBe("Organization created. Create its first project.");
  expect(await readPage(api, PATH, token)).toContain('href="/orgs/acme"');
  await api.db.sql`update organizations set deletes_at = '2030-01-02T03:04:05Z' where slug = 'acme'`;
  expect(await readPage(api, PATH, token)).toMatch(
    /will be deleted<\/span> <time[^>]*>2030-01-02 03:04 UTC</,
  );
});

test("errors of the API are shown at their fields with the input", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  for (const [slug, status, text] of [
    ["a b", 400, "Must be 1 to 63 characters"],
    [org.slug, 409, "The slug is taken"],
  ] as const) {
    const fields = { name: `Acme & Sons`, slug };
    const sent = await submitForm(api, PATH, { token: owner.token, heading, fields });
    const page = await sent.text();
    expect([sent.status, page.includes(text), page.includes(`value="${slug}"`)]).toEqual([
      status,
      true,
      true,
    ]);
    expect(page).toContain('value="Acme &amp; Sons"');
  }
});

test("with organizationCreation=admin, the page says that only operators can create organizations", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  Object.assign(api.deps.config, { organizationCreation: "admin" });
  const page = await (await openPage(api, PATH, owner.token)).text();
  expect(page).toContain("Only operators can create organizations here.");
  const sent = await submitForm(api, PATH, {
    ...{ token: owner.token, heading },
    fields: { name: "Acme", slug: "acme" },
  });
  expect(sent.status).toBe(403);
});
