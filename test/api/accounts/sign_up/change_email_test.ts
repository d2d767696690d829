/** Changing the email address: the mails to both addresses, and the requests that must fail. */
import { expect, test } from "bun:test";
import { makeMailToken, storedMails } from "../../../helpers/accounts/account_mail.ts";
import {
  type Account,
  auditRows,
  hashCheaply,
  login,
  makeAccount,
  signIn,
} from "../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { commitDuring } from "../../../helpers/postgres/waiting_sessions.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

const NEW_EMAIL = "moved@example.org";
const PATH = "/api/v1/auth/email";

async function openPlace(rateLimitLoginPerMinute = 100) {
  await using started = new AsyncDisposableStack();
  const api = started.use(await openTestApp({ config: { rateLimitLoginPerMinute } }));
  const runner = started.use(await openTestRunner(api));
  const account = await makeAccount(api);
  const { sessionToken } = await signIn(api, account);
  const lifetime = started.move();
  return { api, runner, account, sessionToken, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

type Place = Awaited<ReturnType<typeof openPlace>>;

function ask({ api, account, sessionToken: key }: Place, body: object = {}): Promise<Response> {
  const wanted = { email: NEW_EMAIL, password: account.password, ...body };
  return api.request(PATH, { method: "POST", key, body: wanted });
}

function confirm(api: TestApp, token: string | null | undefined): Promise<Response> {
  return api.request(`${PATH}/confirm`, { method: "POST", body: { token } });
}

/** Sends the queued mails. Returns the newest token mailed to the address; null if no mail has a token. */
async function tokenOf({ api, runner }: Place, email: string): Promise<string | null> {
  await runner.accountMails();
  const [row] = await api.db.sql<{ id: string }[]>`
    select id from account_mails where email = ${email} and token_hash is not null order by created_at desc limit 1`;
  const mails = await storedMails(api);
  return mails.find(({ headers }) => headers["message-id"]?.startsWith(`<${row?.id}.`))?.token ?? null;
}

async function subjectsTo({ api, runner }: Place, email: string): Promise<string[]> {
  await runner.accountMails();
  const mails = await storedMails(api);
  return mails
    .flatMap(({ headers }) =>
      headers["to"]?.toLowerCase() === email.toLowerCase() ? (headers["subject"] ?? "") : [],
    )
    .sort();
}

async function emailOf(api: TestApp, { id }: Account): Promise<string | undefined> {
  const [row] = await api.db.sql<{ email: string }[]>`select email from users where id = ${id}`;
  return row?.email;
}

test("a new address takes effect once its link is confirmed, and the old address gets two notices", async () => {
  await using place = await openPlace();
  const { api, account, sessionToken } = place;
  expect((await ask(place)).status).toBe(202);
  expect(await subjectsTo(place, account.email)).toEqual(["Your email address is about to change"]);
  expect(await emailOf(api, account)).toBe(account.email);
  const token = await tokenOf(place, NEW_EMAIL);
  expect((await confirm(api, token)).status).toBe(204);
  expect(await subjectsTo(place, account.email)).toEqual([
    "Your email address has changed",
    "Your email address is about to change",
  ]);
  expect((await login(api, account)).status).toBe(401);
  expect((await login(api, { ...account, email: NEW_EMAIL })).status).toBe(200);
  expect((await api.request("/api/v1/auth/me", { key: sessionToken })).status).toBe(200);
  const [noted] = (await auditRows(api)).filter(({ action }) => action === "email.change");
  expect(noted).toMatchObject({ actorUserId: account.id, subjectId: account.id });
  expect((await confirm(api, token)).status).toBe(400);
  expect(JSON.stringify(api.logLines)).not.toContain(token ?? "?");
});

test("requesting another account's address gets the same response, and only that account is notified", async () => {
  await using place = await openPlace();
  const { api, account } = place;
  const other = await makeAccount(api);
  const [free, taken] = [await ask(place), await ask(place, { email: other.email.toUpperCase() })];
  expect([taken.status, await taken.text()]).toEqual([free.status, await free.text()]);
  expect(await subjectsTo(place, other.email.toUpperCase())).toEqual(["This address already has an account"]);
  expect(await emailOf(api, account)).toBe(account.email);
});

test("a wrong password, an invalid address or an API key instead of a session changes nothing", async () => {
  await using place = await openPlace();
  const { api, account } = place;
  expect((await ask(place, { password: "wrong" })).status).toBe(401);
  expect((await ask(place, { email: "nobody" })).status).toBe(400);
  const { key } = await api.make.key({ userId: account.id });
  const body = { email: NEW_EMAIL, password: account.password };
  expect((await api.request(PATH, { method: "POST", key, body })).status).toBe(403);
  expect(await api.db.sql`select id from account_mails`).toHaveLength(0);
});

/** The events that invalidate the link mailed to `email`. */
const ENDINGS: Readonly<Record<string, (place: Place, email: string) => Promise<unknown>>> = {
  "another request": (place) => ask(place, { email: "third@example.org" }),
  "a new password": ({ api, account, sessionToken: key }) => {
    const body = { currentPassword: account.password, newPassword: "seven quiet lamps at noon" };
    return api.request("/api/v1/auth/password", { method: "POST", key, body });
  },
  "an address that an operator sets": ({ api, account: { id } }) =>
    api.db.sql`update users set email = 'set@example.org' where id = ${id}`,
  "disabling the account": ({ api, account: { id } }) =>
    api.db.sql`update users set disabled_at = now() where id = ${id}`,
  "another account that takes the address": ({ api }, email) => api.make.user({ email }),
  "its end, by the database's clock": ({ api }) =>
    api.db.sql`update account_mails set expires_at = now() - interval '1 second'`,
};

test("a link becomes invalid if its account or address changes, or when it expires", async () => {
  await using shared = await openPlace();
  const { api } = shared;
  for (const [index, [ending, end]] of Object.entries(ENDINGS).entries()) {
    const account = await makeAccount(api);
    const { sessionToken } = await signIn(api, account);
    const place = { ...shared, account, sessionToken };
    const email = `moved-${index}@example.org`;
    await ask(place, { email });
    const token = await tokenOf(place, email);
    expect([ending, token]).toEqual([ending, expect.any(String)]);
    await end(place, email);
    const before = await emailOf(api, account);
    expect([ending, (await confirm(api, token)).status]).toEqual([ending, 400]);
    expect(await emailOf(api, account)).toBe(before);
  }
});

test("a correct password is required to learn that the new address overlaps with the password", async () => {
  await using place = await openPlace();
  const { api, account } = place;
  for (const password of [`My ${NEW_EMAIL.toUpperCase()}!`, "example.org"]) {
    const passwordHash = await hashCheaply(password);
    await api.db.sql`update users set password_hash = ${passwordHash} where id = ${account.id}`;
    expect((await ask(place)).status).toBe(401);
    const refused = await ask(place, { password });
    const { error } = (await refused.json()) as { error: { details: unknown } };
    expect([refused.status, error.details]).toEqual([
      400,
      { errors: [{ path: "email", message: expect.stringContaining("in your password") }] },
    ]);
    expect(await api.db.sql`select 1 from account_mails`).toHaveLength(0);
    expect((await ask(place, { password, email: "third@elsewhere.example" })).status).toBe(202);
    await api.db.owner`delete from account_mails`;
  }
});

test("changing the address invalidates a password-reset link, even if the address is restored", async () => {
  await using place = await openPlace();
  const { api, account } = place;
  const { id: userId, email } = account;
  await ask(place);
  const token = await tokenOf(place, NEW_EMAIL);
  const resetToken = await makeMailToken(api, { kind: "password_reset", email, userId });
  expect((await confirm(api, token)).status).toBe(204);
  await api.db.sql`update users set email = ${email} where id = ${userId}`;
  const body = { token: resetToken, newPassword: "seven quiet lamps at noon" };
  const path = "/api/v1/auth/password/reset/confirm";
  expect((await api.request(path, { method: "POST", body })).status).toBe(400);
  expect((await login(api, account)).status).toBe(200);
});

test("of three concurrent confirmations, exactly one changes the address", async () => {
  await using place = await openPlace();
  const { api } = place;
  await ask(place);
  const token = await tokenOf(place, NEW_EMAIL);
  const responses = await Promise.all([confirm(api, token), confirm(api, token), confirm(api, token)]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 400, 400]);
});

test("the latest address is notified and replaced, even if it was set during the password check", async () => {
  await using place = await openPlace();
  const { api, account } = place;
  const current = "since-then@example.org";
  const response = await commitDuring(
    api.db,
    (tx) => tx`update users set email = ${current} where id = ${account.id}`,
    () => ask(place),
  );
  expect(response.status).toBe(202);
  expect(await subjectsTo(place, current)).toHaveLength(1);
  expect(await subjectsTo(place, account.email)).toEqual([]);
  expect((await confirm(api, await tokenOf(place, NEW_EMAIL))).status).toBe(204);
  expect(await emailOf(api, account)).toBe(NEW_EMAIL);
});

test("a user's requests send at most three mails an hour across all addresses", async () => {
  await using place = await openPlace();
  const { api, runner } = place;
  for (let count = 0; count < 5; count += 1) {
    expect((await ask(place, { email: `victim-${count}@example.org` })).status).toBe(202);
    await runner.accountMails();
  }
  const mails = await storedMails(api);
  expect(mails.filter(({ token }) => token !== null)).toHaveLength(3);
});

test("password and token guesses count as sign-in attempts", async () => {
  {
    // The account's sign-in counts as the first attempt.
    await using place = await openPlace(4);
    for (const status of [401, 401, 401, 429]) {
      expect((await ask(place, { password: "wrong" })).status).toBe(status);
    }
    expect((await ask(place)).status).toBe(429);
  }
  await using place = await openPlace(4);
  for (const status of [400, 400, 400, 429]) {
    expect((await confirm(place.api, "A".repeat(43))).status).toBe(status);
  }
});
