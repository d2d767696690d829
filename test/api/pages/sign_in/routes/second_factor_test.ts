import { expect, test } from "bun:test";
import { makeAccount } from "../../../../helpers/accounts/accounts.ts";
import { Clock, withPasskey, withTotp } from "../../../../helpers/accounts/factors.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { sendForm } from "../../../../helpers/pages/forms.ts";

test("the second step shows its form again for an unknown sign-in, with a link to start over", async () => {
  await using api = await openTestApp();
  const fields = { loginToken: '"><script>', code: "123456" };
  const response = await sendForm(api, "/dashboard/sign-in/second-factor", fields);
  const page = await response.text();
  expect(response.status).toBe(401);
  expect(page).toContain("The sign-in has expired or was used.");
  expect(page).toContain('<a href="/dashboard/sign-in">Back to sign in</a>');
  expect(page).not.toContain('"><script>');
});

/** Returns what the second step offers after the password, and what it offers after a wrong code. */
async function offersOf(api: TestApp, { email, password }: { email: string; password: string }) {
  const first = await sendForm(api, "/dashboard/sign-in", { email, password });
  const page = await first.text();
  const hidden = [...page.matchAll(/name="(loginToken|methods)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
  const again = await sendForm(api, "/dashboard/sign-in/second-factor", { ...fields, code: "000000" });
  expect([first.status, again.status]).toEqual([200, 401]);
  return [page, await again.text()].map((text) => ({
    code: /<label for="code">([^<]*)</.exec(text)?.[1] ?? null,
    passkey: text.includes('data-does="get"'),
    note: text.includes("Passkeys need JavaScript"),
  }));
}

test("the second step offers the factors that the user has, even after a wrong code", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now, config: { rateLimitLoginPerMinute: 1000 } });
  const [ann, bob, eve] = [await makeAccount(api), await makeAccount(api), await makeAccount(api)];
  await withTotp(api, clock, ann);
  const offered = {
    code: "Code from your authenticator app, or a recovery code",
    passkey: false,
    note: false,
  };
  expect(await offersOf(api, ann)).toEqual([offered, offered]);
  await withPasskey(api, bob);
  const onlyRecovery = { code: "Recovery code", passkey: true, note: true };
  expect(await offersOf(api, bob)).toEqual([onlyRecovery, onlyRecovery]);
  await withPasskey(api, eve);
  await api.db.sql`delete from recovery_codes where user_id = ${eve.id}`;
  const noCode = { code: null, passkey: true, note: true };
  expect(await offersOf(api, eve)).toEqual([noCode, noCode]);
});
