/** The form for a new email address, and the page that the emailed link opens. */
import { expect, test } from "bun:test";
import { makeMailToken } from "../../../../helpers/accounts/account_mail.ts";
import { makeAccount, signIn } from "../../../../helpers/accounts/accounts.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { BROWSER, noticeAfter, openPage, sendForm } from "../../../../helpers/pages/forms.ts";

test("the form requires the password and explains when no email is sent to the new address", async () => {
  await using api = await openTestApp();
  const account = await makeAccount(api);
  const { sessionToken: token } = await signIn(api, account);
  const wrong = { form: "email", email: "new@example.org", password: "wrong" };
  const refused = await sendForm(api, "/settings/profile", wrong, { token });
  const page = await refused.text();
  expect(refused.status).toBe(400);
  expect(page).toContain('id="field-password-error">Is wrong');
  expect(page).toContain('value="new@example.org"');
  const sent = await sendForm(api, "/settings/profile", { ...wrong, password: account.password }, { token });
  expect(await noticeAfter(api, sent, token)).toContain("unless three were sent within an hour");
});

test("opening /confirm-email changes nothing, and its form changes the address from any browser", async () => {
  await using api = await openTestApp();
  const { id: userId, email: oldEmail } = await api.make.user();
  const mail = { kind: "email_change", email: "new@example.org", userId, details: { oldEmail } } as const;
  const token = await makeMailToken(api, mail);
  for (const method of ["GET", "HEAD"]) {
    const response = await api.request(`/confirm-email?token=${token}`, { method, headers: BROWSER });
    expect([response.status, response.headers.get("referrer-policy")]).toEqual([200, "strict-origin"]);
  }
  const emails = () => api.db.sql<{ email: string }[]>`select email from users where id = ${userId}`;
  expect([...(await emails())]).toEqual([{ email: oldEmail }]);
  expect(await (await openPage(api, `/confirm-email?token=${token}`)).text()).toContain(token);
  const sent = await sendForm(api, "/confirm-email", { token });
  expect([sent.status, await sent.text()]).toEqual([
    200,
    expect.stringContaining("Your email address has changed"),
  ]);
  expect([...(await emails())]).toEqual([{ email: "new@example.org" }]);
  const again = await sendForm(api, "/confirm-email", { token });
  expect([again.status, await again.text()]).toEqual([
    400,
    expect.stringContaining("This link no longer works"),
  ]);
});
