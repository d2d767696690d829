/** Tests mails about accounts: their content, their delivery after failures, and the secrecy of their tokens. */
import { expect, test } from "bun:test";
import type { SMTPServerOptions } from "smtp-server";
import { chooseFreePort } from "../../../deploy/local/machine.ts";
import { hashLinkToken } from "../../../shared/account_mail_kinds.ts";
import { findAccountLink } from "../../../sql/accounts/account_mails.ts";
import { newestMail, queueMail } from "../../helpers/accounts/account_mail.ts";
import { lapseHeartbeats } from "../../helpers/exports/aftermath.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openMailServer, smtpError } from "../../helpers/network/mail_server.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { spawnRunner } from "../../helpers/process/runner_process.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const PUBLIC_URL = "https://ulr.example/tools";

async function openWith(options: SMTPServerOptions = {}) {
  const server = await openMailServer(options);
  const app = await openTestApp({ config: { publicUrl: PUBLIC_URL, smtpUrl: server.url } });
  const runner = await openTestRunner(app);
  return {
    server,
    app,
    runner,
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function works(app: TestApp, token: string | null): Promise<boolean> {
  const tokenHash = hashLinkToken(token ?? "");
  return (await findAccountLink(app.deps.sql, { kind: "password_reset", tokenHash })) !== null;
}

async function jobState({ db }: TestApp, id: string) {
  const [row] = await db.sql<{ state: string }[]>`
    select state::text from pgboss.job where name = 'send_account_mail' and id = ${id}`;
  return row?.state;
}

test("mails a single link with its expiry, the requester's network, and advice for an unrequested mail", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const user = await app.make.user({ username: "mika", email: "Mika@example.com" });
  await queueMail(app, { kind: "password_reset", email: "mika@EXAMPLE.com", network: "203.0.113.7" });
  await runner.accountMails();
  expect(server.received).toHaveLength(1);
  const mail = await newestMail(server);
  expect(mail.to).toEqual([user.email]);
  expect(mail.headers).toMatchObject({
    subject: "Choose a new password",
    "auto-submitted": "auto-generated",
  });
  expect(mail.link).toStartWith(`${PUBLIC_URL}/reset-password?token=`);
  expect(mail.token).toMatch(/^[\w-]{43}$/);
  expect(mail.html).toContain(`<a href="${mail.link}"`);
  expect(mail.html).toContain('<strong dir="auto">mika</strong>');
  for (const part of [mail.text, mail.html]) {
    expect(part).toMatch(/Network.*203\.0\.113\.7/);
    expect(part).toMatch(/Link expires.* UTC/);
    expect(part).toContain("ignore this email. Your password has not changed");
  }
  expect([...`${mail.text}${mail.html}`.matchAll(/https?:/g)]).toHaveLength(2);
  expect(mail.html).not.toMatch(/<(img|link|script|iframe)|url\(|@import|background|color:/);
  const row = await findAccountLink(app.deps.sql, {
    kind: "password_reset",
    tokenHash: hashLinkToken(mail.token ?? ""),
  });
  expect(row).toMatchObject({ userId: user.id, email: "mika@EXAMPLE.com" });
});

test("writes the token only to the mail, not to the log, a table or the queue", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const { email } = await app.make.user();
  await queueMail(app, { kind: "password_reset", email });
  await runner.accountMails();
  const { token } = await newestMail(server);
  if (token === null) throw new Error("Cannot look for the token: the mail has none");
  expect(JSON.stringify(app.logLines)).not.toContain(token);
  const rows = await app.db.sql<{ text: string }[]>`
    select row_to_json(m)::text as text from account_mails m
    union all
    select row_to_json(j)::text from pgboss.job j where name = 'send_account_mail'
    union all
    select row_to_json(a)::text from audit_log a`;
  expect(rows.length).toBeGreaterThanOrEqual(2);
  for (const { text } of rows) expect(text).not.toContain(token);
});

test("sends no mail about an account that does not exist or is disabled", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const { email } = await app.make.user({ disabledAt: new Date().toISOString() });
  const ids = [
    await queueMail(app, { kind: "password_reset", email }),
    await queueMail(app, { kind: "password_reset", email: "nobody@example.com" }),
  ];
  await runner.accountMails();
  expect(server.received).toEqual([]);
  for (const id of ids) expect(await jobState(app, id)).toBe("completed");
  expect(app.logLines.filter(({ event }) => event === "account_mail.skipped")).toHaveLength(2);
});

test("sends a mail with a working link on the retry after a failure", async () => {
  let refusals = 1;
  await using place = await openWith({
    onRcptTo: ({ address }, _session, callback) =>
      refusals-- > 0 ? callback(smtpError(451, address)) : callback(),
  });
  const { app, runner, server } = place;
  const { email } = await app.make.user();
  await queueMail(app, { kind: "password_reset", email });
  await expect(runner.accountMails()).rejects.toThrow("answers 451 to RCPT TO");
  await waitFor(async () => app.logLines.some(({ event }) => event === "account_mail.failed"));
  await waitFor(async () => (await app.db.sql`select 1 from pgboss.job where state = 'retry'`).length === 1);
  await runner.accountMails();
  expect(server.received).toHaveLength(1);
  expect(await works(app, (await newestMail(server)).token)).toBe(true);
  expect(JSON.stringify(app.logLines)).not.toContain(email);
});

test("retries a failed mail even after its link expires, unless the mail was replaced or the link was used", async () => {
  let isDown = true;
  await using place = await openWith({
    onRcptTo: ({ address }, _session, callback) => (isDown ? callback(smtpError(451, address)) : callback()),
  });
  const { app, runner, server } = place;
  const ids: string[] = [];
  const emails: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { email } = await app.make.user();
    ids.push(await queueMail(app, { kind: "password_reset", email }));
    emails.push(email);
    await expect(runner.accountMails()).rejects.toThrow("answers 451 to RCPT TO");
    await waitFor(async () => (await jobState(app, ids[n] ?? "")) === "retry");
    await app.db.sql`update pgboss.job set state = 'cancelled' where id = ${ids[n] ?? ""}`;
  }
  const [lateId = "", usedId = "", replacedId = ""] = ids;
  await app.db.sql`update account_mails set expires_at = now() - interval '1 second'`;
  await app.db.sql`update account_mails set used_at = now() where id = ${usedId}`;
  await app.db.sql`update account_mails set ended_at = now() where id = ${replacedId}`;
  await app.db
    .sql`update pgboss.job set state = 'retry', completed_on = null where name = 'send_account_mail'`;
  isDown = false;
  await runner.accountMails();
  expect(server.received.map(({ to }) => to)).toEqual([[emails[0] ?? ""]]);
  expect(await works(app, (await newestMail(server)).token)).toBe(true);
  expect(await jobState(app, lateId)).toBe("completed");
});

test("does not retry a mail that the server rejects permanently", async () => {
  await using place = await openWith({
    onRcptTo: ({ address }, _session, callback) => callback(smtpError(550, address)),
  });
  const { app, runner } = place;
  const { email } = await app.make.user();
  const id = await queueMail(app, { kind: "password_reset", email });
  await runner.accountMails();
  expect(await jobState(app, id)).toBe("completed");
  expect(app.logLines).toContainEqual(expect.objectContaining({ event: "account_mail.refused" }));
});

test("sends a queued mail once the mail server is up again", async () => {
  const port = chooseFreePort("127.0.0.1");
  await using app = await openTestApp({ config: { smtpUrl: `smtp://127.0.0.1:${port}` } });
  const { email } = await app.make.user();
  await queueMail(app, { kind: "password_reset", email });
  await using _runner = await openTestRunner(app, { isWorking: true });
  await waitFor(async () => app.logLines.some(({ event }) => event === "account_mail.failed"));
  await using server = await openMailServer({}, port);
  await waitFor(async () => server.received.length === 1);
  expect(await works(app, (await newestMail(server)).token)).toBe(true);
});

test("sends at most eight mails at a time to a slow server", async () => {
  const waiting: (() => void)[] = [];
  let isLate = true;
  let open = 0;
  let mostOpen = 0;
  await using server = await openMailServer({
    onConnect(_session, callback) {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      callback();
    },
    onClose() {
      open -= 1;
    },
    onMailFrom: (_address, _session, callback) => void (isLate ? waiting.push(callback) : callback()),
  });
  await using app = await openTestApp({ config: { smtpUrl: server.url } });
  const users = await Promise.all(Array.from({ length: 10 }, () => app.make.user()));
  for (const { email } of users) await queueMail(app, { kind: "password_reset", email });
  await using _runner = await openTestRunner(app, { isWorking: true });
  await waitFor(async () => waiting.length === 8);
  isLate = false;
  for (const answer of waiting) answer();
  await waitFor(async () => server.received.length === users.length);
  expect(mostOpen).toBe(8);
});

test("sends a mail with a working link from another runner if the first runner is killed while sending", async () => {
  const dropped: string[] = [];
  await using server = await openMailServer({
    // Does not respond to the first mail, like a server that hangs.
    onMailFrom: (_address, session, callback) => {
      if (dropped.length > 0) callback(null);
      else dropped.push(session.id);
    },
  });
  await using app = await openTestApp();
  const { email } = await app.make.user();
  const env = {
    DATABASE_URL: app.deps.config.databaseUrl,
    DATA_DIR: app.deps.config.dataDir,
    SMTP_URL: server.url,
  };
  await queueMail(app, { kind: "password_reset", email });
  const first = spawnRunner(env);
  await waitFor(async () => dropped.length === 1);
  const [stored] = await app.db.sql`select token_hash from account_mails where token_hash is not null`;
  expect(stored).toBeDefined();
  first.kill("SIGKILL");
  await first.exited;
  await lapseHeartbeats(app.db);
  const second = spawnRunner(env);
  await waitFor(async () => server.received.length === 1);
  expect(await works(app, (await newestMail(server)).token)).toBe(true);
  second.kill("SIGTERM");
  expect(await second.exited).toBe(0);
});

test("keeps only the newer mail's link valid if a mail is sent twice", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const { email } = await app.make.user();
  const id = await queueMail(app, { kind: "password_reset", email });
  await runner.accountMails();
  const first = await newestMail(server);
  // Simulates a process that crashed before it recorded the mail as sent.
  await app.db.sql`update account_mails set sent_at = null`;
  await app.db.sql`update pgboss.job set state = 'retry', completed_on = null where id = ${id}`;
  await runner.accountMails();
  const second = await newestMail(server);
  expect(server.received).toHaveLength(2);
  expect(second.headers["message-id"]).not.toBe(first.headers["message-id"] ?? "");
  expect([await works(app, first.token), await works(app, second.token)]).toEqual([false, true]);
  // A mail that is recorded as sent is not sent again.
  await app.db.sql`update pgboss.job set state = 'retry', completed_on = null where id = ${id}`;
  await runner.accountMails();
  expect(server.received).toHaveLength(2);
});

test("does not send a mail that was replaced or that expired before its first attempt", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const users = [await app.make.user(), await app.make.user()];
  for (const { email } of users) await queueMail(app, { kind: "password_reset", email });
  await app.db
    .sql`update account_mails set expires_at = now() - interval '1 second' where email = ${users[0]?.email ?? ""}`;
  await queueMail(app, { kind: "password_reset", email: users[1]?.email.toUpperCase() ?? "" });
  await runner.accountMails();
  expect(server.received.map(({ to }) => to)).toEqual([[users[1]?.email ?? ""]]);
  expect(await works(app, (await newestMail(server)).token)).toBe(true);
});

test("leaves a mail of an unknown kind in the queue for a newer release", async () => {
  await using place = await openWith();
  const { app, runner, server } = place;
  const id = await queueMail(app, { kind: "password_reset", email: "a@example.com" });
  await app.db.sql`update account_mails set kind = 'of_tomorrow' where id = ${id}`;
  await expect(runner.accountMails()).rejects.toThrow('"of_tomorrow": this release does not know it');
  await waitFor(async () => (await jobState(app, id)) === "retry");
  expect(server.received).toEqual([]);
});
