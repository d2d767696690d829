import { expect, test } from "bun:test";
import { publishAgent } from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { BROWSER, openPage } from "../../helpers/pages/forms.ts";

test("the start page has searches for definitions and models, and shows their counts", async () => {
  await using api = await openTestApp();
  const response = await openPage(api, "/");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const page = await response.text();
  for (const text of [
    'action="/definitions"',
    'action="/models"',
    "0 definitions",
    "0 models",
    ">Sign in</a>",
  ]) {
    expect(page).toContain(text);
  }
});

test("the start page shows a signed-in user their organization and a sign-out button", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: user.id });
  const page = await (await openPage(api, "/", token)).text();
  expect(page).toContain(`<option value="${org.slug}" selected>`);
  expect(page).toContain(`<a href="/orgs/${org.slug}">Organization</a>`);
  expect(page).toContain('action="/dashboard/sign-out"');
});

test("the start page counts a private definition only for members of its organization", async () => {
  await using api = await openTestApp();
  const { key, user, org } = await api.make.person({ role: "publisher" });
  await publishAgent(api, { key, org }, { name: "secret", visibility: "private" });
  const { token } = await api.make.session({ userId: user.id });
  expect(await (await openPage(api, "/", token)).text()).toContain("1 definition.");
  expect(await (await openPage(api, "/")).text()).toContain("0 definitions.");
});

test("GET / returns its links to programs that ask for JSON, and 404 to programs that accept any type", async () => {
  await using api = await openTestApp();
  const links = await api.request("/", { headers: { accept: "application/json" } });
  expect([links.status, await links.json()]).toMatchObject([
    200,
    { data: { links: { openapi: "/swagger/json" } } },
  ]);
  const neither = await api.request("/", { headers: { accept: "*/*" } });
  expect([neither.status, await neither.json()]).toMatchObject([
    404,
    { error: { code: "NOT_FOUND", details: { reason: "route" } } },
  ]);
  expect((await api.request("/", { headers: BROWSER })).status).toBe(200);
});
