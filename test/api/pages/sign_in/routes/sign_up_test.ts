/** The pages for signing up. */
import { expect, test } from "bun:test";
import { makeMailToken } from "../../../../helpers/accounts/account_mail.ts";
import { hashCheaply, login } from "../../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { BROWSER, openPage, sendForm } from "../../../../helpers/pages/forms.ts";

const PASSWORD = "seven quiet lamps at noon";

async function makeLink(api: TestApp, username = "ann") {
  const details = { username, name: null, passwordHash: await hashCheaply(PASSWORD) };
  return makeMailToken(api, { kind: "sign_up", email: "ann@example.com", details });
}

test("the sign-in page links to /sign-up unless sign-up is off", async () => {
  await using open = await openTestApp({ config: { signUp: "open" } });
  const path = "/dashboard/sign-in?next=%2Fmodels";
  expect(await (await openPage(open, path)).text()).toContain('href="/sign-up?next=%2Fmodels"');
  await using off = await openTestApp({ config: { signUp: "off" } });
  expect(await (await openPage(off, path)).text()).not.toContain("/sign-up");
  expect((await openPage(off, "/sign-up")).status).toBe(403);
  const fields = { email: "ann@example.com", username: "ann", password: PASSWORD };
  expect((await sendForm(off, "/sign-up", fields)).status).toBe(403);
});

test.each([
  [{ signUp: "open" }, "Anyone can sign up."],
  [{ signUp: "invited" }, "You need an invitation sent to your email address."],
  [
    { signUp: "domains", signUpDomains: ["a.example", "b.example"] },
    "You need an email address at a.example or b.example, or an invitation.",
  ],
] as const)("with %p, the form says who can sign up, then asks to check the email", async (config, text) => {
  await using api = await openTestApp({ config });
  expect(await (await openPage(api, "/sign-up")).text()).toContain(text);
  expect(await (await openPage(api, "/sign-up?sent")).text()).toContain("<h1>Check your email</h1>");
});

test("the form keeps all input except the password and shows each problem at the field", async () => {
  await using api = await openTestApp({ config: { signUp: "open" } });
  const fields = { email: '"><b>@x', username: "Ann!", password: "Password1", name: "Ann" };
  const sent = await sendForm(api, "/sign-up", fields);
  const page = await sent.text();
  expect(sent.status).toBe(400);
  expect(page).toContain('value="&quot;&gt;&lt;b&gt;@x"');
  expect(page).toContain("field-username-error");
  expect(page).toContain("field-password-error");
  expect(page).not.toContain("Password1");
});

test("after the confirmation, a person returns to the page from which they signed up", async () => {
  await using api = await openTestApp({ config: { signUp: "open" } });
  const fields = { email: "ann@example.com", username: "ann", password: PASSWORD, name: "" };
  const sent = await sendForm(api, "/sign-up?next=%2Finvitation%3Ftoken%3Dx", fields);
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/sign-up?sent"]);
  const [cookie = ""] = sent.headers.getSetCookie();
  expect(cookie).toMatch(/^ulr_after_sign_up=[^;]+; HttpOnly; SameSite=Lax; Path=\/sign-up; Max-Age=86400$/);
  // The path is stored only in the cookie, because the path may contain a token.
  const [row] = await api.db.sql<[{ text: string }]>`select m::text as text from account_mails m`;
  expect(row.text).not.toContain("invitation");
  const token = await makeLink(api);
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  const confirmed = await sendForm(api, "/sign-up/confirm", { token, password: PASSWORD }, { headers });
  expect([confirmed.status, confirmed.headers.get("location")]).toEqual([
    303,
    "/dashboard/sign-in?next=%2Finvitation%3Ftoken%3Dx&signed-up=",
  ]);
  expect(confirmed.headers.getSetCookie()[0]).toContain("Max-Age=0");
  // The browser gets the sign-in page even if another user is signed in.
  const { token: session } = await api.make.session({ userId: (await api.make.user()).id });
  const signIn = await openPage(api, confirmed.headers.get("location") ?? "", session);
  const page = await signIn.text();
  expect([signIn.status, page]).toEqual([200, expect.stringContaining("Your account is ready.")]);
  expect(page).toContain('action="/dashboard/sign-in?next=%2Finvitation%3Ftoken%3Dx"');
  expect((await login(api, { email: "ann@example.com", password: PASSWORD })).status).toBe(200);
});

test("a redirect cookie set by another site cannot lead to another site", async () => {
  await using api = await openTestApp();
  for (const path of ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%"]) {
    const token = await makeLink(api, `ann-${path.length}`);
    await api.db.sql`delete from users`;
    const headers = { cookie: `ulr_after_sign_up=${path}` };
    const sent = await sendForm(api, "/sign-up/confirm", { token, password: PASSWORD }, { headers });
    expect(sent.headers.get("location")).not.toContain("evil");
    expect(sent.status).toBe(303);
  }
});

test("opening the link creates no account, and a username that was taken can be replaced", async () => {
  await using api = await openTestApp();
  await api.make.user({ username: "ann" });
  const token = await makeLink(api);
  const path = `/sign-up/confirm?token=${token}`;
  for (const method of ["GET", "HEAD"]) {
    const response = await api.request(path, { method, headers: BROWSER });
    expect([response.status, response.headers.get("referrer-policy")]).toEqual([200, "strict-origin"]);
    if (method === "GET") expect(await response.text()).toMatch(/<input [^>]*name="password"[^>]* autofocus/);
  }
  expect(await api.db.sql`select id from users where username <> 'ann'`).toHaveLength(0);
  const wrong = await sendForm(api, "/sign-up/confirm", { token, password: "not the one" });
  const wrongPage = await wrong.text();
  expect([wrong.status, wrongPage]).toEqual([400, expect.stringContaining("field-password-error")]);
  expect(wrongPage).not.toContain('name="username"');
  const taken = await sendForm(api, "/sign-up/confirm", { token, password: PASSWORD });
  expect([taken.status, await taken.text()]).toEqual([400, expect.stringContaining('name="username"')]);
  const sent = await sendForm(api, "/sign-up/confirm", { token, password: PASSWORD, username: "ann-lee" });
  expect(sent.status).toBe(303);
  const again = await sendForm(api, "/sign-up/confirm", { token, password: PASSWORD, username: "ann-lee" });
  const dead = await again.text();
  expect([again.status, dead]).toEqual([400, expect.stringContaining("This link no longer works")]);
  const [, signIn = ""] = dead.match(/href="([^"]*)">Sign in<\/a> <a class="button"/) ?? [];
  const { token: session } = await api.make.session({ userId: (await api.make.user()).id });
  expect(await (await openPage(api, signIn, session)).text()).toContain('<form id="sign-in"');
});

test("a person who was signed up by a stranger chooses a new username and password", async () => {
  await using api = await openTestApp();
  const token = await makeLink(api, "mallory");
  const path = `/sign-up/confirm?token=${token}&new=true`;
  expect(await (await openPage(api, `/sign-up/confirm?token=${token}`)).text()).toContain(
    `href="${path.replace("&", "&amp;")}"`,
  );
  const page = await (await openPage(api, path)).text();
  for (const name of ["username", "newPassword"]) expect(page).toContain(`name="${name}"`);
  expect(page).not.toContain("mallory");
  const fields = { token, username: "ann", newPassword: "Password1" };
  const refused = await sendForm(api, "/sign-up/confirm", fields);
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("field-newPassword-error"),
  ]);
  const newPassword = "ten calm rivers at dawn";
  expect((await sendForm(api, "/sign-up/confirm", { ...fields, newPassword })).status).toBe(303);
  expect((await login(api, { email: "ann@example.com", password: newPassword })).status).toBe(200);
});
