/** Signing up: the permitted addresses, the mails, and responses that do not reveal existing accounts. */
import { expect, test } from "bun:test";
import { makeMailToken, newestMail } from "../../../helpers/accounts/account_mail.ts";
import { auditRows, login, makeAccount } from "../../../helpers/accounts/accounts.ts";
import { makeInvitation } from "../../../helpers/accounts/organization.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "../../../helpers/http/app.ts";
import { openMailServer } from "../../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../../helpers/process/job_runner.ts";

const PASSWORD = "seven quiet lamps at noon";
const PATH = "/api/v1/auth/sign-up";

function ask(api: TestApp, body: object): Promise<Response> {
  const wanted = { email: "ann@example.com", username: "ann", password: PASSWORD };
  return api.request(PATH, { method: "POST", body: { ...wanted, ...body } });
}

function confirm(api: TestApp, body: object): Promise<Response> {
  return api.request(`${PATH}/confirm`, { method: "POST", body: { password: PASSWORD, ...body } });
}

/** Opens an app with a mail server and a job runner. */
async function openPlace(config: TestAppOptions["config"] = {}) {
  await using started = new AsyncDisposableStack();
  const server = started.use(await openMailServer());
  const api = started.use(
    await openTestApp({
      config: { smtpUrl: server.url, signUp: "open", rateLimitLoginPerMinute: 100, ...config },
    }),
  );
  const runner = started.use(await openTestRunner(api));
  const lifetime = started.move();
  return { server, api, runner, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

test("a person signs up with a link, which creates the account and its personal organization", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  const asked = await ask(api, { name: "Ann Lee" });
  expect([asked.status, await asked.text()]).toEqual([202, ""]);
  expect(await api.db.sql`select id from users`).toHaveLength(0);
  await runner.accountMails();
  const { to, token, link, text } = await newestMail(server);
  expect(to).toEqual(["ann@example.com"]);
  expect(link).toContain("/sign-up/confirm?token=");
  expect(text).toContain("as ann.");
  const confirmed = await confirm(api, { token });
  expect(confirmed.status).toBe(201);
  const { data } = (await confirmed.json()) as { data: { id: string } };
  expect(data).toMatchObject({ username: "ann", email: "ann@example.com" });
  expect((await login(api, { email: "ann@example.com", password: PASSWORD })).status).toBe(200);
  const orgs = await api.db.sql`
    select o.slug, o.name, o.is_personal, m.role
    from organizations o join organization_members m on m.org_id = o.id
    where m.user_id = ${data.id}`;
  expect([...orgs]).toEqual([{ slug: "ann", name: "Ann Lee", isPersonal: true, role: "owner" }]);
  const [noted] = (await auditRows(api)).filter(({ action }) => action === "user.create");
  expect(noted).toMatchObject({ actorType: "user", actorUserId: data.id, subjectId: data.id });
  // The link works once. The row no longer contains the password hash, and no log contains the token.
  expect((await confirm(api, { token, username: "ann2" })).status).toBe(400);
  expect([...(await api.db.sql`select details from account_mails`)]).toEqual([{ details: {} }]);
  expect(JSON.stringify([api.logLines, await auditRows(api)])).not.toContain(token ?? "?");
});

test("a username that looks like a domain does not become a link in the mail", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  await ask(api, { username: "evil.example" });
  await runner.accountMails();
  const { text, html } = await newestMail(server);
  for (const part of [text, html]) expect(part).not.toContain("evil.example");
});

test("only the hash of the password is stored", async () => {
  await using place = await openPlace();
  const { api } = place;
  await ask(api, {});
  const [row] = await api.db.sql<[{ text: string; hash: string }]>`
    select (select string_agg(m::text, ' ') from account_mails m) || (select string_agg(j::text, ' ') from pgboss.job j) as text,
      details ->> 'passwordHash' as hash
    from account_mails`;
  expect(row.text).not.toContain(PASSWORD);
  expect(row.hash).toStartWith("$argon2id$");
});

test("a sign-up request does not look up the account and does the same work for every address", async () => {
  await using place = await openPlace({ signUp: "domains", signUpDomains: ["example.com"] });
  const { api } = place;
  const { email } = await makeAccount(api);
  await api.db.sql`delete from account_mails`;
  const seen = [];
  for (const address of [email, "new@example.com", "stranger@example.org"]) {
    const { status, headers } = await ask(api, { email: address });
    seen.push([status, [...headers.keys()].filter((name) => !name.startsWith("x-ratelimit"))]);
  }
  expect(seen[0]?.[0]).toBe(202);
  expect(seen).toEqual(Array(3).fill(seen[0]));
  const rows = await api.db.sql<{ user: unknown; hasHash: boolean }[]>`
    select user_id as user, details ? 'passwordHash' as has_hash from account_mails`;
  expect([...rows]).toEqual(Array(3).fill({ user: null, hasHash: true }));
  expect(await api.db.sql`select id from pgboss.job where name = 'send_account_mail'`).toHaveLength(3);
});

test("an address with an account gets a mail that says so, without a sign-up link", async () => {
  await using place = await openPlace({ signUp: "invited" });
  const { api, runner, server } = place;
  const { email, username } = await makeAccount(api);
  expect((await ask(api, { email: email.toUpperCase() })).status).toBe(202);
  await runner.accountMails();
  const mail = await newestMail(server);
  expect(mail.headers["subject"]).toBe("You already have an account");
  expect(mail.text).toContain(username);
  expect(mail.text).toContain("/forgot-password");
  expect(mail.token).toBeNull();
});

test("SIGN_UP=off sends mail only to accounts, not to invited addresses, and refuses earlier links", async () => {
  await using place = await openPlace({ signUp: "off" });
  const { api, runner, server } = place;
  const { org, user } = await api.make.person({ role: "owner" });
  const email = "ann@example.com";
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  await api.db.sql`
    insert into organization_invitations (org_id, email, role, invited_by, expires_at)
    values (${org.id}, ${email}, 'viewer', ${user.id}, ${expiresAt})`;
  const token = await makeMailToken(api, { kind: "sign_up", email });
  expect((await ask(api, { email })).status).toBe(202);
  await runner.accountMails();
  expect(server.received).toEqual([]);
  expect((await ask(api, { email: user.email })).status).toBe(202);
  await runner.accountMails();
  expect(server.received.map(({ content }) => String(content))).toEqual([
    expect.stringContaining("Subject: You already have an account"),
  ]);
  const response = await confirm(api, { token });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error: { code: "SIGN_UP_DISABLED" } });
});

test("SIGN_UP=invited sends mail only to addresses with a pending invitation, ignoring case", async () => {
  await using place = await openPlace({ signUp: "invited" });
  const { api, runner, server } = place;
  const { org, user } = await api.make.person({ role: "owner" });
  const invite = (email: string, columns: object) => api.db.sql`
    insert into organization_invitations ${api.db.sql({ orgId: org.id, email, role: "viewer", invitedBy: user.id, ...columns } as never)}`;
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const earlier = new Date(Date.now() - 3_600_000).toISOString();
  await invite("ann@example.com", { expiresAt: later });
  await invite("expired@example.com", { createdAt: "2026-01-01", expiresAt: earlier });
  await invite("revoked@example.com", { expiresAt: later, revokedAt: earlier });
  for (const email of [
    "Ann@Example.com",
    "expired@example.com",
    "revoked@example.com",
    "nobody@example.com",
  ]) {
    expect((await ask(api, { email })).status).toBe(202);
  }
  await runner.accountMails();
  expect(server.received.map(({ to }) => to)).toEqual([["Ann@example.com"]]);
});

test("strangers' sign-ups before an invitation do not use up the invited person's hourly emails", async () => {
  await using place = await openPlace({ signUp: "invited" });
  const { api, runner, server } = place;
  for (let n = 0; n < 4; n += 1) await ask(api, { password: "known to somebody else" });
  await runner.accountMails();
  expect(server.received).toEqual([]);
  const { org, user } = await api.make.person({ role: "owner" });
  await makeInvitation(api, { orgId: org.id, email: "ann@example.com", invitedBy: user.id });
  for (let n = 0; n < 4; n += 1) {
    await ask(api, {});
    await runner.accountMails();
  }
  expect(server.received).toHaveLength(3);
  expect((await confirm(api, { token: (await newestMail(server)).token })).status).toBe(201);
});

test("an address with an account gets at most three emails about sign-ups an hour", async () => {
  await using place = await openPlace({ signUp: "invited" });
  const { api, runner, server } = place;
  const { email } = await makeAccount(api);
  for (let n = 0; n < 5; n += 1) {
    await ask(api, { email });
    await runner.accountMails();
  }
  expect(server.received).toHaveLength(3);
});

test("SIGN_UP=domains sends mail only to addresses in the allowed domains", async () => {
  await using place = await openPlace({ signUp: "domains", signUpDomains: ["example.com"] });
  const { api, runner, server } = place;
  for (const email of [
    "a@EXAMPLE.com",
    "a@sub.example.com",
    "a@example.com.evil.test",
    "example.com@evil.test",
  ]) {
    expect((await ask(api, { email })).status).toBe(202);
  }
  await runner.accountMails();
  expect(server.received.map(({ to }) => to)).toEqual([["a@example.com"]]);
});

test("a taken username is reported on confirmation, and the link still works with another username", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  await api.make.user({ username: "ann" });
  await api.make.org({ slug: "team" });
  await ask(api, {});
  await runner.accountMails();
  const { token } = await newestMail(server);
  for (const body of [{ token }, { token, username: "team" }, { token, username: "No!" }]) {
    const response = await confirm(api, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { details: { errors: [{ path: "username" }] } } });
  }
  expect((await confirm(api, { token, username: "ann-lee" })).status).toBe(201);
  expect((await login(api, { email: "ann@example.com", password: PASSWORD })).status).toBe(200);
});

test("a link does not create an account with a password that another person chose", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  await ask(api, {});
  // Another person signs up with the owner's address and username. The newest link belongs to that sign-up.
  await ask(api, { password: "known to somebody else" });
  await runner.accountMails();
  const { token } = await newestMail(server);
  const refused = await confirm(api, { token });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { details: { errors: [{ path: "password" }] } } });
  expect(await api.db.sql`select id from users`).toHaveLength(0);
  await ask(api, {});
  await runner.accountMails();
  expect((await confirm(api, { token: (await newestMail(server)).token })).status).toBe(201);
  expect((await login(api, { email: "ann@example.com", password: PASSWORD })).status).toBe(200);
});

test("the owner of an address can use a link from a stranger's sign-up with a new password", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  const others = "known to somebody else";
  for (let n = 0; n < 3; n += 1) await ask(api, { username: "mallory", name: "Mallory", password: others });
  // The mail limit is reached, so the owner's own sign-up sends no email.
  await ask(api, {});
  await runner.accountMails();
  const { token, text } = await newestMail(server);
  expect(text).toContain("choose your own username and password");
  const link = { token, password: undefined };
  for (const [body, path] of [
    [link, "password"],
    [{ ...link, newPassword: "Password1" }, "newPassword"],
    [{ ...link, newPassword: "I am ann-lee", username: "ann-lee" }, "newPassword"],
  ] as const) {
    const refused = await confirm(api, body);
    expect(await refused.json()).toMatchObject({ error: { details: { errors: [{ path }] } } });
  }
  expect((await confirm(api, { ...link, newPassword: PASSWORD, username: "ann" })).status).toBe(201);
  const [user] = await api.db.sql`select username, name from users`;
  expect(user).toEqual({ username: "ann", name: null });
  expect((await login(api, { email: "ann@example.com", password: others })).status).toBe(401);
  expect((await login(api, { email: "ann@example.com", password: PASSWORD })).status).toBe(200);
});

test("a username chosen on confirmation must not be part of the password", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  await ask(api, {});
  await runner.accountMails();
  const { token } = await newestMail(server);
  const response = await confirm(api, { token, username: "lamps" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { details: { errors: [{ path: "username" }] } } });
});

test("of three concurrent confirmations, exactly one creates the account", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  await ask(api, {});
  await runner.accountMails();
  const { token } = await newestMail(server);
  const names = ["first", "second", "third"];
  const responses = await Promise.all(names.map(async (username) => confirm(api, { token, username })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
  expect(await api.db.sql`select id from users`).toHaveLength(1);
});

test("of two people who chose the same username, only the first to confirm gets an account", async () => {
  await using place = await openPlace();
  const { api, runner, server } = place;
  const tokens: (string | null)[] = [];
  for (const email of ["ann@example.com", "ann@example.org"]) {
    await ask(api, { email });
    await runner.accountMails();
    tokens.push((await newestMail(server)).token);
  }
  const responses = await Promise.all(tokens.map(async (token) => confirm(api, { token })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 400]);
});

test("invalid fields are reported together, before anything is written", async () => {
  await using place = await openPlace();
  const { api } = place;
  const response = await ask(api, { email: "nobody", username: "Ann!", password: "Password1", name: " " });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { details: { errors: { path: string }[] } } };
  expect(error.details.errors.map(({ path }) => path)).toEqual(["email", "username", "password", "name"]);
  for (const password of ["ann@example.com", "I am ann-the-first", "ann-the-first"]) {
    expect([password, (await ask(api, { username: "ann-the-first", password })).status]).toEqual([
      password,
      400,
    ]);
  }
  expect(await api.db.sql`select id from account_mails`).toHaveLength(0);
});

test("sign-ups and guessed tokens count as sign-in attempts from the client address", async () => {
  {
    await using place = await openPlace({ rateLimitLoginPerMinute: 3 });
    for (const status of [202, 202, 202, 429]) {
      expect((await ask(place.api, { email: `${crypto.randomUUID()}@example.com` })).status).toBe(status);
    }
  }
  await using place = await openPlace({ rateLimitLoginPerMinute: 3 });
  for (const status of [400, 400, 400, 429]) {
    expect((await confirm(place.api, { token: "A".repeat(43) })).status).toBe(status);
  }
});
