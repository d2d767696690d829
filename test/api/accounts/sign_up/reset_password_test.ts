/** Resetting a forgotten password: the mail, the link, and the requests that must fail. */
import { expect, test } from "bun:test";
import { setPassword } from "../../../../api/accounts/set_password.ts";
import { makeMailToken, newestMail } from "../../../helpers/accounts/account_mail.ts";
import {
  type Account,
  auditRows,
  hashCheaply,
  login,
  makeAccount,
  signIn,
} from "../../../helpers/accounts/accounts.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "../../../helpers/http/app.ts";
import { openMailServer } from "../../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

const NEW_PASSWORD = "seven quiet lamps at noon";
const PATH = "/api/v1/auth/password/reset";

function ask(api: TestApp, email: unknown, address = "192.0.2.1"): Promise<Response> {
  return api.request(PATH, { method: "POST", body: { email }, address });
}

function confirm(api: TestApp, token: string, newPassword = NEW_PASSWORD): Promise<Response> {
  return api.request(`${PATH}/confirm`, { method: "POST", body: { token, newPassword } });
}

async function openWithAccount(options: TestAppOptions = {}) {
  const api = await openTestApp(options);
  const account = await makeAccount(api);
  return { api, account, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

function tokenFor(api: TestApp, { id: userId, email }: Account): Promise<string> {
  return makeMailToken(api, { kind: "password_reset", email, userId });
}

async function expectDeadLink(response: Response): Promise<void> {
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: "VALIDATION_ERROR", details: { errors: [{ path: "token" }] } },
  });
}

test("a user who forgot the password gets a mail and sets a new password, which ends all sessions", async () => {
  await using server = await openMailServer();
  await using place = await openWithAccount({ config: { smtpUrl: server.url } });
  const { api, account } = place;
  const sessions = [await signIn(api, account), await signIn(api, account)];
  const { key } = await api.make.key({ userId: account.id });
  const response = await ask(api, account.email.toUpperCase());
  expect([response.status, await response.text()]).toEqual([202, ""]);
  await using runner = await openTestRunner(api);
  await runner.accountMails();
  const { to, token } = await newestMail(server);
  expect(to).toEqual([account.email]);
  const confirmed = await confirm(api, token ?? "");
  expect([confirmed.status, await confirmed.text()]).toEqual([204, ""]);
  const statusOf = async (secret: string) => (await api.request("/api/v1/auth/me", { key: secret })).status;
  expect(await Promise.all([...sessions.map(({ sessionToken }) => sessionToken), key].map(statusOf))).toEqual(
    [401, 401, 200],
  );
  expect((await login(api, account)).status).toBe(401);
  expect((await login(api, { ...account, password: NEW_PASSWORD })).status).toBe(200);
  const [noted] = (await auditRows(api)).filter(({ action }) => action === "password.reset");
  expect(noted).toMatchObject({
    actorUserId: account.id,
    credentialId: null,
    subjectId: account.id,
    details: { endedSessions: 2 },
  });
  // The link works once. Neither the log nor the audit log contains the token.
  await expectDeadLink(await confirm(api, token ?? "", "another long password"));
  expect(JSON.stringify([api.logLines, await auditRows(api)])).not.toContain(token ?? "?");
});

test("a request repeated with its idempotency key gets the same response and queues one mail", async () => {
  await using place = await openWithAccount();
  const { api, account } = place;
  const headers = { "idempotency-key": "retry-1" };
  const request = { method: "POST", body: { email: account.email }, headers };
  for (const replayed of [null, "true"]) {
    const response = await api.request(PATH, request);
    expect([response.status, response.headers.get("idempotency-replayed")]).toEqual([202, replayed]);
  }
  expect(await api.db.sql`select from account_mails`).toHaveLength(1);
});

test("an account whose address no longer passes validation still gets a mail", async () => {
  await using server = await openMailServer();
  await using api = await openTestApp({ config: { smtpUrl: server.url } });
  const { email } = await api.make.user({ email: "ann@müller.example" });
  expect((await ask(api, email)).status).toBe(202);
  await using runner = await openTestRunner(api);
  await runner.accountMails();
  expect((await newestMail(server)).to).toEqual([email]);
});

test("a reset request does not look up the account, so it cannot reveal whether the account exists", async () => {
  await using place = await openWithAccount();
  const { api, account } = place;
  const { email: disabled } = await api.make.user({ disabledAt: new Date().toISOString() });
  await api.db.owner`alter table users rename to hidden_users`;
  const responses = [];
  for (const email of [account.email, disabled, "nobody@example.com"]) {
    const { status, headers } = await ask(api, email);
    responses.push([status, [...headers.keys()].filter((name) => !name.startsWith("x-ratelimit"))]);
  }
  await api.db.owner`alter table hidden_users rename to users`;
  expect(responses[0]?.[0]).toBe(202);
  expect(responses).toEqual(Array(3).fill(responses[0]));
  const rows = await api.db.sql`select user_id, is_over_limit, ended_at from account_mails`;
  expect([...rows]).toEqual(Array(3).fill({ userId: null, isOverLimit: false, endedAt: null }));
  expect(await api.db.sql`select id from pgboss.job where name = 'send_account_mail'`).toHaveLength(3);
});

test("after three mails in an hour, the response stays the same, but no more mail is sent", async () => {
  await using server = await openMailServer();
  await using place = await openWithAccount({ config: { smtpUrl: server.url } });
  const { api, account } = place;
  await using runner = await openTestRunner(api);
  for (let count = 0; count < 5; count += 1) {
    expect((await ask(api, account.email)).status).toBe(202);
    await runner.accountMails();
  }
  expect(server.received).toHaveLength(3);
  // The newest mail contains the link that still works.
  const { token } = await newestMail(server);
  expect((await confirm(api, token ?? "")).status).toBe(204);
});

test("a network can request at most 30 mails an hour, even with concurrent requests", async () => {
  await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 1000 } });
  const responses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) =>
      ask(api, `somebody-${index}@example.com`, `192.0.2.${index}`),
    ),
  );
  const statuses = responses.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(30);
  // Invitations sent from an office do not count toward the limit of the office's network.
  await api.db.sql`
    insert into account_mails (kind, email, network)
    select 'invitation', 'guest-' || number || '@example.com', '198.51.100.0/24' from generate_series(1, 40) as number`;
  const refused = responses.find(({ status }) => status === 429);
  expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(3000);
  expect((await ask(api, "somebody@example.com", "198.51.100.1")).status).toBe(202);
  await api.db.sql`update account_mails set created_at = now() - interval '61 minutes'`;
  expect((await ask(api, "somebody@example.com")).status).toBe(202);
});

test("an invalid address is refused before anything is written", async () => {
  await using api = await openTestApp();
  for (const email of ["", "nobody", "a b@example.com", "a\0@example.com", `${"a".repeat(320)}@x`, 7, null]) {
    expect([email, (await ask(api, email)).status]).toEqual([email, 400]);
  }
  expect(await api.db.sql`select id from account_mails`).toHaveLength(0);
});

const ENDINGS: Readonly<Record<string, (api: TestApp, account: Account) => Promise<unknown>>> = {
  "a newer mail": (api, account) => tokenFor(api, account),
  "a new password from the user": async (api, account) => {
    const { sessionToken: key } = await signIn(api, account);
    const body = { currentPassword: account.password, newPassword: "another long password" };
    await api.request("/api/v1/auth/password", { method: "POST", key, body });
  },
  "a new password by an operator": async (api, account) => {
    const passwordHash = await hashCheaply("another long password");
    await api.db.sql.begin((tx) =>
      setPassword(tx, {
        user: account,
        passwordHash,
        action: "password.set",
        actor: { actorType: "operator" },
      }),
    );
  },
  "a new address": (api, { id }) => api.db.sql`update users set email = 'new@example.com' where id = ${id}`,
  "disabling the account": (api, { id }) => api.db.sql`update users set disabled_at = now() where id = ${id}`,
  "expiry by the database's clock": (api) => api.db.sql`
    update account_mails set expires_at = now() - interval '1 second'`,
};

for (const [ending, end] of Object.entries(ENDINGS)) {
  test(`${ending} invalidates a reset link`, async () => {
    await using place = await openWithAccount();
    const { api, account } = place;
    const token = await tokenFor(api, account);
    await end(api, account);
    await expectDeadLink(await confirm(api, token));
    expect((await login(api, { ...account, password: NEW_PASSWORD })).status).toBe(401);
  });
}

test("an API clock that is a day behind does not extend a link's validity", async () => {
  await using place = await openWithAccount({ now: () => Date.now() - 86_400_000 });
  const { api, account } = place;
  const token = await tokenFor(api, account);
  await api.db.sql`update account_mails set expires_at = clock_timestamp() - interval '1 second'`;
  await expectDeadLink(await confirm(api, token));
});

test("exactly one of three concurrent requests with the same link sets its new password", async () => {
  await using place = await openWithAccount();
  const { api, account } = place;
  const token = await tokenFor(api, account);
  const passwords = ["first long password", "second long password", "third long password"];
  const responses = await Promise.all(passwords.map(async (password) => confirm(api, token, password)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 400, 400]);
  const winner = passwords[responses.findIndex(({ status }) => status === 204)] ?? "";
  expect((await login(api, { ...account, password: winner })).status).toBe(200);
  expect((await auditRows(api)).filter(({ action }) => action === "password.reset")).toHaveLength(1);
});

test("a password that breaks the rules is refused, and the link still works", async () => {
  await using place = await openWithAccount();
  const { api, account } = place;
  const token = await tokenFor(api, account);
  for (const password of ["short", "Password1", `x ${account.email}`, account.username]) {
    const response = await confirm(api, token, password);
    expect([password, response.status]).toEqual([password, 400]);
    expect(await response.json()).toMatchObject({
      error: { details: { errors: [{ path: "newPassword" }] } },
    });
  }
  expect((await confirm(api, token)).status).toBe(204);
});

test("guessed tokens count as sign-in attempts", async () => {
  await using place = await openWithAccount({ config: { rateLimitLoginPerMinute: 3 } });
  const { api, account } = place;
  const token = await tokenFor(api, account);
  for (const status of [400, 400, 400, 429]) {
    expect((await confirm(api, "A".repeat(43))).status).toBe(status);
  }
  expect((await confirm(api, token)).status).toBe(429);
});

test("after a reset, earlier guesses by strangers do not delay the user's sign-in", async () => {
  await using place = await openWithAccount({ config: { rateLimitLoginPerMinute: 3 } });
  const { api, account } = place;
  for (let network = 0; network < 12; network += 1) {
    await login(api, { email: account.email, password: "guess" }, { address: `198.51.${network}.1` });
  }
  // Raises the delay to the maximum, as if many more passwords had been guessed.
  await api.db.sql`update login_account_attempts set attempts = 144`;
  expect((await login(api, account)).status).toBe(429);
  expect((await confirm(api, await tokenFor(api, account))).status).toBe(204);
  expect((await login(api, { ...account, password: NEW_PASSWORD })).status).toBe(200);
});
