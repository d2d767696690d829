/** Access to an organization's pages, and the refusal of forged forms. */
import { expect, test } from "bun:test";
import { makeVersion } from "../../../helpers/definitions/definition_list.ts";
import { formTokenIn, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import { openPageScene, readPage } from "../../../helpers/pages/page_scene.ts";

const MEMBER_PAGES = ["/members", "/usage", "/projects"];
const ADMIN_PAGES = ["/audit", "/webhooks", "/edit"];

test.each([
  ["viewer", 200, 403],
  ["publisher", 200, 403],
  ["admin", 200, 200],
  ["owner", 200, 200],
  ["outsider", 403, 403],
] as const)(
  "%s: member pages return %i, admin pages return %i, and the profile links only to accessible pages",
  async (role, member, admin) => {
    await using scene = await openPageScene();
    const { api, org } = scene;
    const { token } = await scene.visitor(role);
    const path = `/orgs/${org.slug}`;
    const profile = await readPage(api, path, token);
    for (const [pages, status] of [[MEMBER_PAGES, member] as const, [ADMIN_PAGES, admin] as const]) {
      for (const page of pages) {
        const response = await openPage(api, path + page, token);
        expect([page, response.status, response.headers.get("cache-control")]).toEqual([
          page,
          status,
          status === 200 ? "private, no-store" : "no-store",
        ]);
        expect([page, profile.includes(`href="${path}${page}"`)]).toEqual([page, status === 200]);
      }
    }
  },
);

test("a refused page shows the API's message", async () => {
  await using scene = await openPageScene();
  const viewer = await scene.visitor("viewer");
  const outsider = await scene.visitor("outsider");
  const text = async (page: string, token: string) =>
    (await openPage(scene.api, `/orgs/${scene.org.slug}${page}`, token)).text();
  expect(await text("/audit", viewer.token)).toContain(
    "This requires the admin role or above. Your role in this organization is viewer.",
  );
  expect(await text("/members", outsider.token)).toContain("You are not a member of this organization.");
});

test("an unknown organization and an unknown webhook return the page for unknown URLs", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const read = async (path: string) => {
    const response = await openPage(api, path, owner.token);
    const text = (await response.text()).replaceAll(response.headers.get("x-request-id") ?? "", "ID");
    return [response.status, text];
  };
  const unknown = await read("/nowhere");
  expect(unknown[0]).toBe(404);
  const paths = ["", ...MEMBER_PAGES, ...ADMIN_PAGES].map((page) => `/orgs/no-such-organization${page}`);
  const webhook = `/orgs/${org.slug}/webhooks/${crypto.randomUUID()}`;
  const member = `/orgs/${org.slug}/members/${crypto.randomUUID()}`;
  const below = [webhook, `${webhook}/delete`, member, `${member}/remove`];
  for (const path of [...paths, ...below, `/orgs/${org.slug}/nothing`]) {
    expect([path, await read(path)]).toEqual([path, unknown]);
  }
});

test("anonymous visitors see the cacheable profile and must sign in for other pages", async () => {
  await using scene = await openPageScene();
  const { api, org } = scene;
  const path = `/orgs/${org.slug}`;
  const profile = await openPage(api, path);
  expect([profile.status, profile.headers.get("cache-control"), profile.headers.has("etag")]).toEqual([
    200,
    "public, max-age=0, must-revalidate",
    true,
  ]);
  for (const page of [...MEMBER_PAGES, ...ADMIN_PAGES]) {
    for (const slug of [org.slug, "no-such-organization"]) {
      const response = await openPage(api, `/orgs/${slug}${page}`);
      expect([response.status, response.headers.get("location")]).toEqual([
        303,
        `/dashboard/sign-in?next=${encodeURIComponent(`/orgs/${slug}${page}`)}`,
      ]);
    }
  }
});

test("outsiders see only public definitions, and members see all, with drafts beside published versions", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const of = { orgId: org.id, authorId: owner.user.id };
  await makeVersion(api.db.sql, { ...of, name: "open-one", displayName: `Open "><script>alert(1)</script>` });
  await makeVersion(api.db.sql, { ...of, name: "hidden-one", visibility: "private" });
  await makeVersion(api.db.sql, { ...of, name: "open-draft", status: "draft" });
  const draft = { version: "1.1.0", status: "draft", displayName: "Title of the draft" } as const;
  await makeVersion(api.db.sql, { ...of, name: "open-one", ...draft });
  const outsider = await scene.visitor("outsider");
  for (const token of [undefined, outsider.token]) {
    const page = await readPage(api, `/orgs/${org.slug}`, token);
    expect(page).toContain(`href="/definitions/agent/@${org.slug}/open-one"`);
    expect(page).not.toContain("hidden-one");
    expect(page).not.toContain("open-draft");
    expect(page).toContain("Public definitions</h2>");
    expect(page).not.toContain("1.1.0");
  }
  const own = await readPage(api, `/orgs/${org.slug}`, owner.token);
  expect(own).toContain(`href="/definitions/agent/@${org.slug}/open-draft@1.0.0"`);
  expect(own).toContain("Definitions</h2>");
  expect(own).toMatch(/hidden-one<\/small> <span class="badge">private<\/span>/);
  expect(own).toContain(`href="/definitions/agent/@${org.slug}/open-one"`);
  expect(own).toContain(`<a href="/definitions/agent/@${org.slug}/open-one@1.1.0">draft 1.1.0</a>`);
  expect(own).not.toContain("Title of the draft");
});

test("choosing another organization leads to the same page for that organization", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const { username } = owner.user;
  const to = async (path: string) => (await openPage(api, path, owner.token)).headers.get("location");
  expect(await to(`/orgs/${org.slug}/members?org=${username}`)).toBe(`/orgs/${username}/members`);
  expect(await to(`/orgs/${org.slug}?org=${username}`)).toBe(`/orgs/${username}`);
  expect(await to(`/orgs/${org.slug}/webhooks/x?org=${username}`)).toBe(`/orgs/${username}/webhooks`);
  expect(await to(`/orgs/${org.slug}/usage?org=${org.slug}`)).toBe(`/orgs/${org.slug}/usage`);
  expect(await to(`/orgs/${org.slug}?org=no-such-organization`)).toBeNull();
});

test("forms from other sites, without a token or with another session's token change nothing", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const other = await api.make.session({ userId: owner.user.id });
  const otherToken = formTokenIn(await readPage(api, "/settings/profile", other.token));
  const fields = {
    request_id: crypto.randomUUID(),
    url: "https://ci.example.com/hook",
    types: "export.ready",
  };
  const path = `/orgs/${org.slug}/webhooks`;
  const { token } = owner;
  const statuses = [
    await sendForm(api, path, fields, { token, headers: { origin: "https://evil.example" } }),
    await sendForm(api, path, fields, { token, formToken: "" }),
    await sendForm(api, path, fields, { token, formToken: otherToken }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 403]);
  expect(await api.db.sql`select id from webhooks`).toHaveLength(0);
});
