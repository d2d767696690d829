/** The form of an organization's profile, without JavaScript. */
import { expect, test } from "bun:test";
import { makeAccount } from "../../../helpers/accounts/accounts.ts";
import { Clock, withTotp } from "../../../helpers/accounts/factors.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { formTokenIn, noticeAfter, openPage, sendForm } from "../../../helpers/pages/forms.ts";
import {
  HOSTILE,
  openPageScene,
  type PageScene,
  readPage,
  requireEscaped,
  submitForm,
} from "../../../helpers/pages/page_scene.ts";

const FIELDS = { name: "Acme", description: "Makes things", websiteUrl: "https://acme.example/" };

async function readOrg({ api, org }: PageScene) {
  const [row] = await api.db.sql`
    select name, description, website_url as "websiteUrl" from organizations where id = ${org.id}`;
  return { ...row };
}

/** Submits the form with the token of a user who can open it. */
function save({ api, org }: PageScene, token: string, fields: Readonly<Record<string, string>>) {
  return submitForm(api, `/orgs/${org.slug}/edit`, { token, heading: "edit-title", fields });
}

test.each(["owner", "admin"] as const)(
  "%s: saved values are public, shown in the form and escaped",
  async (role) => {
    await using scene = await openPageScene();
    const { api, org } = scene;
    const { token } = await scene.visitor(role);
    const path = `/orgs/${org.slug}`;
    const fields = {
      name: `Acme ${HOSTILE}`,
      description: `\nTwo\r\nlines ${HOSTILE}`,
      websiteUrl: "https://acme.example/?a=1&b=2",
    };
    const sent = await save(scene, token, fields);
    expect([sent.status, sent.headers.get("location")]).toEqual([303, `${path}/edit`]);
    expect(await readOrg(scene)).toEqual({ ...fields, description: `\nTwo\nlines ${HOSTILE}` });
    expect(await noticeAfter(api, sent, token)).toBe("Profile saved.");
    const form = await readPage(api, `${path}/edit`, token);
    expect(form).toContain(`<title>Edit profile · Acme &quot;&gt;`);
    expect(form).toContain(`value="https://acme.example/?a=1&amp;b=2"`);
    // HTML parsers drop a line break at the start of a text area, so the page adds one.
    expect(form).toContain(`maxlength="2000">\n\nTwo\nlines &quot;`);
    const profile = await readPage(api, path);
    expect(profile).toContain(`href="https://acme.example/?a=1&amp;b=2"`);
    expect(profile).toContain("Two\nlines &quot;");
  },
);

test("the owner can edit a personal organization", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = `/orgs/${owner.user.username}`;
  expect(await readPage(api, path, owner.token)).toContain(`href="${path}/edit"`);
  const given = { token: owner.token, heading: "edit-title", fields: FIELDS };
  expect((await submitForm(api, `${path}/edit`, given)).status).toBe(303);
  expect(await readPage(api, path)).toContain("Makes things");
});

test("empty fields are unset, but an empty name is refused", async () => {
  await using scene = await openPageScene();
  const { owner } = scene;
  await save(scene, owner.token, FIELDS);
  const sent = await save(scene, owner.token, { name: "Acme", description: " ", websiteUrl: "" });
  expect(sent.status).toBe(303);
  expect(await readOrg(scene)).toEqual({ name: "Acme", description: null, websiteUrl: null });
  const refused = await save(scene, owner.token, { ...FIELDS, name: "" });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain(
    `<p class="field-error" id="field-name-error">Must not be empty</p>`,
  );
  expect(await readOrg(scene)).toEqual({ name: "Acme", description: null, websiteUrl: null });
});

test("errors are shown at their fields, and all input is kept", async () => {
  await using scene = await openPageScene();
  const { owner } = scene;
  const before = await readOrg(scene);
  const fields = { name: "x".repeat(201), description: HOSTILE, websiteUrl: "javascript:alert(1)" };
  const sent = await save(scene, owner.token, fields);
  const page = requireEscaped(await sent.text());
  expect([sent.status, sent.headers.get("cache-control")]).toEqual([400, "private, no-store"]);
  expect(page).toContain(`role="alert"`);
  expect(page).toContain(`<li><a href="#field-name">name</a> must have at most 200 characters</li>`);
  expect(page).toContain(
    `<p class="field-error" id="field-websiteUrl-error">Must be an http or https URL</p>`,
  );
  expect(page).toContain(`value="${fields.name}"`);
  expect(page).toContain(`maxlength="2000">\n&quot;&gt;&lt;script&gt;`);
  expect(page).toContain(`value="javascript:alert(1)"`);
  expect(await readOrg(scene)).toEqual(before);
});

test.each([
  ["viewer", "This requires the admin role or above."],
  ["publisher", "This requires the admin role or above."],
  ["outsider", "You are not a member of this organization."],
] as const)(
  "%s: a submitted form is refused with the API's message, and no form is shown",
  async (role, message) => {
    await using scene = await openPageScene();
    const { api, org } = scene;
    const before = await readOrg(scene);
    const { token } = await scene.visitor(role);
    const sent = await sendForm(api, `/orgs/${org.slug}/edit`, FIELDS, { token });
    const page = await sent.text();
    expect([sent.status, page.includes(message), page.includes(`name="websiteUrl"`)]).toEqual([
      403,
      true,
      false,
    ]);
    expect(await readOrg(scene)).toEqual(before);
  },
);

test("forms from other sites, without a token, with another session's token or without a session change nothing", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const before = await readOrg(scene);
  const other = await api.make.session({ userId: owner.user.id });
  const formToken = formTokenIn(await readPage(api, "/settings/profile", other.token));
  const path = `/orgs/${org.slug}/edit`;
  const { token } = owner;
  const statuses = [
    await sendForm(api, path, FIELDS, { token, headers: { origin: "https://evil.example" } }),
    await sendForm(api, path, FIELDS, { token, formToken: "" }),
    await sendForm(api, path, FIELDS, { token, formToken }),
    await sendForm(api, path, FIELDS),
  ].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 403, 303]);
  expect(await readOrg(scene)).toEqual(before);
});

test("an unknown organization returns the page for unknown URLs, even when its form is sent", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const { token } = owner;
  const responses = [
    await openPage(api, "/orgs/no-such-organization/edit", token),
    await sendForm(api, "/orgs/no-such-organization/edit", FIELDS, { token }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([404, 404]);
});

test("an owner without a second factor is asked to add one before requiring second factors of members", async () => {
  await using scene = await openPageScene();
  const { api, org, owner } = scene;
  const given = { token: owner.token, heading: "factor-title", fields: {} };
  const sent = await submitForm(api, `/orgs/${org.slug}/edit`, given);
  const page = await sent.text();
  expect([
    sent.status,
    page.includes("You have no second factor. Add one under Settings, Second factor."),
  ]).toEqual([422, true]);
  expect(await api.db.sql`select 1 from organizations where require_second_factor`).toHaveLength(0);
});

test("an owner with a second factor can require second factors of members and end the requirement", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const account = await makeAccount(api);
  const { key: token } = await withTotp(api, clock, account);
  const org = await api.make.org();
  await api.make.member({ orgId: org.id, userId: account.id, role: "owner" });
  const path = `/orgs/${org.slug}/edit`;
  for (const button of ["Stop requiring it", "Require a second factor"]) {
    const sent = await submitForm(api, path, { token, heading: "factor-title", fields: {} });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, path]);
    expect(await noticeAfter(api, sent, token)).toBe("Second factor setting saved.");
    expect(await readPage(api, path, token)).toContain(button);
  }
});
