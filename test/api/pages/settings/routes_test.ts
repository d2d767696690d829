/** Access to the settings pages, and the refusal of forged forms. */
import { expect, test } from "bun:test";
import { auditRows } from "../../../helpers/accounts/accounts.ts";
import { formTokenIn, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import { openPageScene, readPage } from "../../../helpers/pages/page_scene.ts";

const PAGES = [
  "/settings/profile",
  "/settings/organizations",
  "/settings/keys",
  "/settings/second-factor",
  "/settings/sessions",
  "/settings/sessions/end-others",
];

test("visitors without a session are redirected to the sign-in page, with the page's URL in next", async () => {
  await using scene = await openPageScene();
  for (const path of [
    ...PAGES,
    "/settings/second-factor/x/remove",
    "/settings/keys/x/revoke",
    "/settings/sessions/x/end",
  ]) {
    const response = await openPage(scene.api, path);
    expect([path, response.status, response.headers.get("location")]).toEqual([
      path,
      303,
      `/dashboard/sign-in?next=${encodeURIComponent(path)}`,
    ]);
  }
  const front = await openPage(scene.api, "/settings");
  expect([front.status, front.headers.get("location")]).toEqual([303, "/settings/profile"]);
});

test("a user's settings pages are private, whatever the user's role", async () => {
  await using scene = await openPageScene();
  for (const role of ["viewer", "outsider"] as const) {
    const { token } = await scene.visitor(role);
    for (const path of PAGES) {
      const response = await openPage(scene.api, path, token);
      expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    }
  }
});

test("forms from other sites, without a token or with another session's token change nothing", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const { token } = owner;
  const { id } = await api.make.key({ userId: owner.user.id });
  const other = await api.make.session({ userId: owner.user.id });
  const otherToken = formTokenIn(await readPage(api, "/settings/profile", other.token));
  const profile = { form: "profile", name: "Changed" };
  const forms: [string, Record<string, string>][] = [
    ["/settings/profile", profile],
    ["/settings/keys", { request_id: crypto.randomUUID(), name: "Mine" }],
    [`/settings/keys/${id}/revoke`, {}],
    ["/settings/sessions/end-others", {}],
  ];
  for (const [path, fields] of forms) {
    const statuses = [
      await sendForm(api, path, fields, { token, headers: { origin: "https://evil.example" } }),
      await sendForm(api, path, fields, { token, headers: { "sec-fetch-site": "cross-site" } }),
      await sendForm(api, path, fields, { token, formToken: "" }),
      await sendForm(api, path, fields, { token, formToken: otherToken }),
    ].map(({ status }) => status);
    expect([path, statuses]).toEqual([path, [403, 403, 403, 403]]);
  }
  const written = (await auditRows(api)).filter(({ action }) => !action.startsWith("request."));
  expect(written.map(({ action }) => action)).toEqual([]);
});
