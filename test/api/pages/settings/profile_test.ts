/** The profile and password forms, without JavaScript. */
import { expect, test } from "bun:test";
import { auditRows, login, makeAccount } from "../../../helpers/accounts/accounts.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { noticeAfter } from "../../../helpers/pages/forms.ts";
import {
  HOSTILE,
  openPageScene,
  readPage,
  requireEscaped,
  submitForm,
} from "../../../helpers/pages/page_scene.ts";

const PATH = "/settings/profile";

test("a saved profile is public and shown in the form", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const fields = {
    name: HOSTILE,
    bio: `\nTwo\r\nlines ${HOSTILE}`,
    websiteUrl: "https://a.example/?a=1&b=2",
  };
  const sent = await submitForm(api, PATH, { token: owner.token, heading: "profile-title", fields });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, PATH]);
  const response = await api.request(`/api/v1/users/${owner.user.id}`);
  expect(await response.json()).toMatchObject({
    data: { name: HOSTILE, bio: `\nTwo\nlines ${HOSTILE}`, websiteUrl: fields.websiteUrl },
  });
  expect(await noticeAfter(api, sent, owner.token)).toBe("Profile saved.");
  const page = await readPage(api, PATH, owner.token);
  expect(page).toContain(`value="https://a.example/?a=1&amp;b=2"`);
  // HTML parsers drop a line break at the start of a text area, so the page adds one.
  expect(page).toContain(`maxlength="2000">\n\nTwo\nlines &quot;`);
});

test("an empty field is unset", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const send = (name: string) =>
    submitForm(api, PATH, {
      token: owner.token,
      heading: "profile-title",
      fields: { name, bio: "", websiteUrl: "" },
    });
  await send("Olivia");
  expect((await send(" ")).status).toBe(303);
  const [user] = await api.db.sql`select name from users where id = ${owner.user.id}`;
  expect(user).toEqual({ name: null });
});

test("errors of the API are shown at the field, and all input is kept", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const fields = { name: "Olivia", bio: HOSTILE, websiteUrl: "javascript:alert(1)" };
  const sent = await submitForm(api, PATH, { token: owner.token, heading: "profile-title", fields });
  const page = requireEscaped(await sent.text());
  expect([sent.status, sent.headers.get("cache-control")]).toEqual([400, "private, no-store"]);
  expect(page).toContain(`role="alert"`);
  expect(page).toContain(
    `<p class="field-error" id="field-websiteUrl-error">Must be an http or https URL</p>`,
  );
  expect(page).toContain(`value="javascript:alert(1)"`);
  expect(page).toContain(`value="Olivia"`);
});

async function openAccount() {
  const api = await openTestApp();
  const account = await makeAccount(api);
  const { token } = await api.make.session({ userId: account.id });
  const change = (fields: Readonly<Record<string, string>>) =>
    submitForm(api, PATH, { token, heading: "password-title", fields });
  return { api, account, token, change, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const NEW = "seven quiet lamps at noon";

test("a new password takes effect immediately and ends the user's other sessions", async () => {
  await using place = await openAccount();
  const { api, account, token, change } = place;
  const other = await api.make.session({ userId: account.id });
  const fields = { currentPassword: account.password, newPassword: NEW, repeatedPassword: NEW };
  const sent = await change(fields);
  expect([sent.status, sent.headers.get("location")]).toEqual([303, PATH]);
  expect((await login(api, { ...account, password: NEW })).status).toBe(200);
  expect(await noticeAfter(api, sent, token)).toStartWith("Password changed.");
  const ended = await api.request(PATH, { headers: { cookie: `ulr_session=${other.token}` } });
  expect([ended.status, ended.headers.get("location")]).toEqual([
    303,
    "/dashboard/sign-in?next=%2Fsettings%2Fprofile",
  ]);
});

test.each([
  ["a wrong current password", { currentPassword: "wrong-wrong" }, "currentPassword"],
  ["a common new password", { newPassword: "password1", repeatedPassword: "password1" }, "newPassword"],
  ["a short new password", { newPassword: "short", repeatedPassword: "short" }, "newPassword"],
  ["a different repetition", { repeatedPassword: "something else" }, "repeatedPassword"],
])(
  "%s is rejected with an error on the field, and no password is sent back",
  async (_, wrong: Record<string, string>, field) => {
    await using place = await openAccount();
    const { api, account, change } = place;
    const fields = { currentPassword: account.password, newPassword: NEW, repeatedPassword: NEW, ...wrong };
    const sent = await change(fields);
    const page = await sent.text();
    expect(sent.status).toBe(400);
    expect(page).toContain(`id="field-${field}-error"`);
    expect(page).toContain("<title>Error: ");
    const [, summary, target] = /(autofocus>\s*<p><a href="#field-(\w+)">[^<]*)</.exec(page) ?? [];
    expect(target).toBe(field);
    // The message does not contain the name of an API field.
    expect(summary).not.toMatch(/>[^<]*[a-z][A-Z][^<]*$/);
    for (const password of Object.values(fields)) expect(page).not.toContain(`"${password}"`);
    expect((await auditRows(api)).map(({ action }) => action)).not.toContain("password.change");
  },
);
