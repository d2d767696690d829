/** The pages for resetting a password. Their URLs must not leak the token. */
import { expect, test } from "bun:test";
import { makeMailToken } from "../../../../helpers/accounts/account_mail.ts";
import { login, makeAccount } from "../../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { BROWSER, openPage, sendForm } from "../../../../helpers/pages/forms.ts";

const PASSWORD = "seven quiet lamps at noon";

async function openLink(api: TestApp) {
  const account = await makeAccount(api);
  const { id: userId, email } = account;
  const token = await makeMailToken(api, { kind: "password_reset", email, userId });
  return { account, token, path: `/reset-password?token=${token}` };
}

test("the sign-in page links to /forgot-password, which shows the same response for every address", async () => {
  await using api = await openTestApp();
  const { email } = await makeAccount(api);
  expect(await (await openPage(api, "/dashboard/sign-in")).text()).toContain('href="/forgot-password"');
  for (const address of [email, "nobody@example.com"]) {
    const { status, headers } = await sendForm(api, "/forgot-password", { email: ` ${address} ` });
    expect([status, headers.get("location")]).toEqual([303, "/forgot-password?sent"]);
  }
  expect(await (await openPage(api, "/forgot-password?sent")).text()).toContain(
    "If this address has an account",
  );
  const wrong = await sendForm(api, "/forgot-password", { email: '"><b>' });
  expect(wrong.status).toBe(400);
  expect(await wrong.text()).toContain("Must be an email address");
});

test("too many requests are reported with the time to wait", async () => {
  await using api = await openTestApp();
  for (let count = 0; count < 30; count += 1) {
    await sendForm(api, "/forgot-password", { email: `somebody-${count}@example.com` });
  }
  const response = await sendForm(api, "/forgot-password", { email: "one-more@example.com" });
  expect([response.status, await response.text()]).toEqual([
    429,
    expect.stringMatching(/Too many attempts\. Try again in \d+ minutes\./),
  ]);
});

test("a mail scanner that opens the link changes nothing", async () => {
  await using api = await openTestApp();
  const { account, token, path } = await openLink(api);
  for (const method of ["GET", "HEAD", "GET"]) {
    const response = await api.request(path, { method, headers: BROWSER });
    expect([method, response.status]).toEqual([method, 200]);
  }
  const sent = await sendForm(api, "/reset-password", { token, newPassword: PASSWORD });
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/dashboard/sign-in?reset"]);
  expect((await login(api, { ...account, password: PASSWORD })).status).toBe(200);
});

test("the URL of the link is neither sent as referrer nor cached", async () => {
  await using api = await openTestApp();
  const { token, path } = await openLink(api);
  const response = await openPage(api, path);
  expect(response.headers.get("referrer-policy")).toBe("strict-origin");
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("etag")).toBeNull();
  const page = await response.text();
  expect(page.split(token)).toHaveLength(2);
  expect(page).toContain(`<input type="hidden" name="token" value="${token}">`);
  expect(JSON.stringify(api.logLines)).not.toContain(token);
});

test("the link works even in a browser in which another user is signed in", async () => {
  await using api = await openTestApp();
  const { account, token, path } = await openLink(api);
  const { token: session } = await api.make.session({ userId: (await api.make.user()).id });
  expect((await openPage(api, path, session)).status).toBe(200);
  const sent = await sendForm(
    api,
    "/reset-password",
    { token, newPassword: PASSWORD },
    { token: session, formToken: "of no form" },
  );
  expect(sent.status).toBe(303);
  expect((await login(api, { ...account, password: PASSWORD })).status).toBe(200);
  expect((await api.request("/api/v1/auth/me", { key: session })).status).toBe(200);
  // The browser is signed in to another account, but still gets the sign-in form. No page of the other account would
  // confirm the password change.
  const signIn = await openPage(api, sent.headers.get("location") ?? "", session);
  const page = await signIn.text();
  expect([signIn.status, page.includes('<form id="sign-in"')]).toEqual([200, true]);
  expect(page).toContain("Your password has been changed.");
});

test("a weak password is reported on the form, and a missing token redirects to /forgot-password", async () => {
  await using api = await openTestApp();
  const { token } = await openLink(api);
  const weak = await sendForm(api, "/reset-password", { token, newPassword: "Password1" });
  const page = await weak.text();
  expect(weak.status).toBe(400);
  expect(page).toContain("most common passwords");
  expect(page).toContain(`value="${token}"`);
  expect(page).not.toContain("Password1");
  const dead = await sendForm(api, "/reset-password", { token: '"><b>', newPassword: PASSWORD });
  expect(dead.status).toBe(400);
  expect(await dead.text()).toContain("This link no longer works");
  const without = await openPage(api, "/reset-password");
  expect([without.status, without.headers.get("location")]).toEqual([303, "/forgot-password"]);
});

test("a form that is sent twice reports that the new password may already be set", async () => {
  await using api = await openTestApp();
  const { token } = await openLink(api);
  const send = () => sendForm(api, "/reset-password", { token, newPassword: PASSWORD });
  expect((await send()).status).toBe(303);
  const again = await send();
  const page = await again.text();
  expect([
    again.status,
    page.includes("If you have just set a password with it, that password counts."),
  ]).toEqual([400, true]);
  const [, signIn = ""] = page.match(/href="([^"]*)">Sign in<\/a> <a class="button"/) ?? [];
  const { token: session } = await api.make.session({ userId: (await api.make.user()).id });
  const form = await (await openPage(api, signIn, session)).text();
  expect(form).toContain('<form id="sign-in"');
  expect(form).not.toContain('class="notice"');
});

test("a form from another site does not set a password", async () => {
  await using api = await openTestApp();
  const { token, account } = await openLink(api);
  const headers = { origin: "https://evil.example" };
  const sent = await sendForm(api, "/reset-password", { token, newPassword: PASSWORD }, { headers });
  expect(sent.status).toBe(403);
  expect((await login(api, account)).status).toBe(200);
});
