/** Calls from pages to the API in the same process. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { formTokenIn, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import { hiddenFields, openPageScene, readPage } from "../../../helpers/pages/page_scene.ts";

test("no name in a page's URL can redirect the page's API call to another path", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person({ role: "publisher", tier: "pro" });
  const project = await api.make.project({ orgId: org.id, ownerId: user.id });
  const { token } = await api.make.session({ userId: user.id });
  const names = [
    "../auth/me",
    "./x",
    "x/..",
    "../../../health/ready",
    `../export/projects/${project.id}/issues`,
  ];
  for (const name of names) {
    const path = `/models/compare?model=${encodeURIComponent(name)}`;
    for (const session of [undefined, token]) {
      expect([name, (await openPage(api, path, session)).status]).toEqual([name, 404]);
    }
  }
});

test("a refused form that is sent again, such as by reloading the page, is refused again", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  await api.make.project({ orgId: org.id, ownerId: owner.user.id, name: "Checkout", slug: "checkout" });
  const orgPage = `/orgs/${org.slug}`;
  const forms = [
    [`${orgPage}/projects`, "new-title", { name: "Checkout", slug: "" }, "Choose another name."],
    ["/settings/organizations", "new-title", { name: "Other", slug: org.slug }, "The slug is taken."],
    [
      `${orgPage}/webhooks`,
      "new-webhook-title",
      { url: "http://127.0.0.1/", types: "export.ready" },
      "https",
    ],
    ["/settings/keys", "new-key-title", { name: "CI", expiresAt: "2020-01-01" }, "last day"],
  ] as const;
  for (const [path, heading, fields, text] of forms) {
    const page = await readPage(api, path, owner.token);
    const send = { token: owner.token, formToken: formTokenIn(page) };
    const responses: [number, boolean][] = [];
    for (const _ of [1, 2]) {
      const sent = await sendForm(api, path, { ...hiddenFields(page, heading), ...fields }, send);
      responses.push([sent.status, (await sent.text()).includes(text)]);
    }
    expect([path, ...responses.flat()]).toEqual([path, expect.any(Number), true, responses[0]?.[0], true]);
  }
});
