/** /settings/second-factor and the second step of signing in, without JavaScript. */
import { expect, test } from "bun:test";
import { makeAccount, signIn } from "../../../helpers/accounts/accounts.ts";
import { Clock } from "../../../helpers/accounts/factors.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../helpers/pages/forms.ts";

const PATH = "/settings/second-factor";

test("an authenticator app is added, its code is accepted at sign-in, and the app is removed", async () => {
  const clock = new Clock();
  await using api = await openTestApp({ now: clock.now });
  const account = await makeAccount(api);
  const { sessionToken: token } = await signIn(api, account);
  expect(await (await openPage(api, PATH, token)).text()).toContain("You have no second factor.");
  const send = (fields: Record<string, string>) => sendForm(api, PATH, fields, { token });
  const wrong = await send({ form: "begin", password: "wrong" });
  expect([wrong.status, await wrong.text()]).toEqual([
    400,
    expect.stringContaining("The password is wrong."),
  ]);
  const begun = await (await send({ form: "begin", password: account.password })).text();
  const [, secret = ""] = /Secret: <code>(\w+)<\/code>/.exec(begun) ?? [];
  const [, uri = ""] = /name="uri" value="([^"]+)"/.exec(begun) ?? [];
  expect(begun).toContain('<svg role="img" aria-label="QR code of the secret"');
  expect(begun).not.toContain("style=");
  const form = { form: "confirm", name: "Phone", secret, uri: uri.replaceAll("&amp;", "&") };
  const mistyped = await send({ ...form, name: "Work phone", code: "no code" });
  const kept = await mistyped.text();
  expect([mistyped.status, kept.includes(secret)]).toEqual([400, true]);
  expect(kept).toContain('value="Work phone"');
  const added = await (await send({ ...form, code: clock.code(secret) })).text();
  const [, codes = ""] = /<pre[^>]*>([^<]*)</.exec(added) ?? [];
  expect(codes.match(/^([0-9a-z]{4}-){3}[0-9a-z]{4}$/gm)).toHaveLength(10);
  // After a double click, the browser shows only the second response. The recovery codes were in the first response.
  const again = await send({ ...form, code: clock.code(secret) });
  const text = await again.text();
  expect([again.status, text.includes(secret)]).toEqual([400, false]);
  for (const part of ["was sent already", "<b>Phone</b>", "Replace codes"]) expect(text).toContain(part);
  expect((await send({ form: "__proto__" })).status).toBe(400);

  clock.step();
  const first = await sendForm(api, "/dashboard/sign-in?next=/models", {
    email: account.email,
    password: account.password,
  });
  const step = await first.text();
  const [, loginToken = ""] = /name="loginToken" value="([^"]+)"/.exec(step) ?? [];
  expect([first.status, first.headers.get("set-cookie")]).toEqual([200, null]);
  const second = (code: string) =>
    sendForm(api, "/dashboard/sign-in/second-factor?next=/models", { loginToken, code });
  const refused = await second("000000");
  expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining(loginToken)]);
  const done = await second(clock.code(secret));
  expect([done.status, done.headers.get("location")]).toEqual([303, "/models"]);
  expect(done.headers.get("set-cookie")).toContain("ulr_session=uls_");

  const [row] = await api.db.sql<{ id: string }[]>`select id from second_factors`;
  await api.db.sql`update sessions set factor_at = now() - interval '1 hour'`;
  const stale = await (await openPage(api, PATH, token)).text();
  expect(stale).toContain("Confirm with a second factor");
  expect(stale).not.toContain("Remove");
  clock.step();
  const verified = await send({ form: "verify", code: clock.code(secret) });
  expect([verified.status, verified.headers.get("location")]).toEqual([303, PATH]);
  expect(verified.headers.getSetCookie().join()).toContain("done=verify");
  const remove = `${PATH}/${row?.id}/remove`;
  expect(await (await openPage(api, remove, token)).text()).toContain("Remove this second factor?");
  expect((await sendForm(api, remove, {}, { token })).status).toBe(303);
  expect(await api.db.sql`select 1 from second_factors`).toHaveLength(0);
});

test("a page of an organization that requires a second factor links members to their settings", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person();
  await api.db.sql`update organizations set require_second_factor = true where id = ${org.id}`;
  const { token } = await api.make.session({ userId: user.id });
  const page = await openPage(api, `/orgs/${org.slug}/usage`, token);
  expect([page.status, await page.text()]).toEqual([403, expect.stringContaining(`href="${PATH}"`)]);
  expect((await openPage(api, PATH, token)).status).toBe(200);
  expect((await openPage(api, "/settings/profile", token)).status).toBe(200);
});
