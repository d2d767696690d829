/** Tests the mail about a ready export: recipient, content, and delivery exactly once. */
import { expect, test } from "bun:test";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SMTPServerOptions } from "smtp-server";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import type { Config } from "../../shared/process/config.ts";
import { JOBS_APPLICATION } from "../../sql/connection/application_names.ts";
import { ageExportJob, getJob, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openMailServer, parseMail, smtpError } from "../helpers/network/mail_server.ts";
import { listOpenTransactions } from "../helpers/postgres/open_transactions.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

type AuthCallback = Parameters<NonNullable<SMTPServerOptions["onAuth"]>>[2];

const PUBLIC_URL = "https://ulr.example/tools";
const MAIL_FROM = '"Acme, Inc." <exports@mail.example>';

interface Made {
  orgName?: string;
  /** Whether the organization has no projects. */
  isEmpty?: boolean;
  /** The start of an incremental export. */
  since?: string;
}

/** Opens an app with a finished export job whose mail is queued. */
async function openWithReady(config: Partial<Config> = {}, { orgName, isEmpty = false, since }: Made = {}) {
  const app = await openTestApp({ config: { publicUrl: PUBLIC_URL, mailFrom: MAIL_FROM, ...config } });
  const person = isEmpty ? await app.make.person() : (await makeExportProject(app)).person;
  if (orgName !== undefined) {
    await app.db.sql`update organizations set name = ${orgName} where id = ${person.org.id}`;
  }
  const { id } = await jobOf(await postJob(app, person, since === undefined ? undefined : { since }));
  const runner = await openTestRunner(app);
  await runner.build(id);
  return { app, runner, person, id };
}

async function mailState(app: TestApp, id: string) {
  const [row] = await app.db.sql<{ state: string; isMailed: boolean }[]>`
    select q.state::text, j.mailed_at is not null as is_mailed
    from pgboss.job as q
    join export_jobs as j on j.id = q.id
    where q.name = 'send_export_ready' and q.id = ${id}`;
  return row ?? null;
}

/** Adds credentials to the server's URL and disables certificate verification, because the certificate is self-signed. */
function withPassword(url: string): string {
  return `${url.replace("//", "//me:hunter2@")}?tls.rejectUnauthorized=false`;
}

test("mails the requester a link to the job, in text and in HTML", async () => {
  await using server = await openMailServer();
  const { app, runner, person, id } = await openWithReady(
    { smtpUrl: server.url },
    { orgName: 'Ünï <b>"Co"</b> & 空' },
  );
  await using _app = app;
  await using _runner = runner;
  await app.make.member({ orgId: person.org.id, userId: (await app.make.user()).id });
  await runner.mail(id);
  expect(server.received).toMatchObject([{ from: "exports@mail.example", to: [person.user.email] }]);
  const mail = await parseMail(server.received[0]?.content ?? Buffer.of());
  expect(mail.headers).toMatchObject({
    from: MAIL_FROM,
    to: person.user.email,
    subject: 'Your export of Ünï <b>"Co"</b> & 空 is ready',
    "message-id": `<${id}@mail.example>`,
    "auto-submitted": "auto-generated",
  });
  expect(mail.headers).not.toContainKeys(["cc", "bcc"]);
  const job = await getJob(app, person.key, id);
  const link = `${PUBLIC_URL}/dashboard/exports?job=${id}`;
  expect(mail.text).toContain(`Your export of Ünï <b>"Co"</b> & 空 is ready.\n\nOpen the export:\n${link}\n`);
  expect(mail.html).toContain("Ünï &lt;b&gt;&quot;Co&quot;&lt;/b&gt; &amp; 空</strong> is ready");
  expect(mail.html).toContain(`href="${link}"`);
  const facts = [
    `${job.progress.rowsWritten} rows of 1 project`,
    "NDJSON, in a ZIP file",
    `(${job.artifact?.bytes.toLocaleString("en-US")} bytes)`,
    inWords(job.asOf),
    inWords(job.expiresAt),
  ];
  for (const fact of facts) {
    expect(mail.text).toContain(fact);
    expect(mail.html).toContain(fact);
  }
  // The text and the HTML each contain one URL, which opens a page instead of the file. The HTML loads no resources and sets no
  // colors.
  expect([...`${mail.text}${mail.html}`.matchAll(/https?:\/\/[^\s"<]+/g)].map(([url]) => url)).toEqual([
    link,
    link,
  ]);
  expect(mail.text).not.toContain("changes since");
  expect(mail.html).not.toMatch(/<(img|link|script|iframe)|url\(|@import|background|color:/);
});

function inWords(iso = ""): string {
  const [date = "", time = ""] = iso.split("T");
  const [year, month, day] = date.split("-").map(Number);
  const name = new Date(2000, (month ?? 0) - 1).toLocaleString("en", { month: "long" });
  return `${day} ${name} ${year} at ${time.slice(0, 8)} UTC`;
}

test("states in the mail that an export is an increment, and when it starts", async () => {
  await using server = await openMailServer();
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url }, { since });
  await using _app = app;
  await using _runner = runner;
  await runner.mail(id);
  const mail = await parseMail(server.received[0]?.content ?? Buffer.of());
  expect(mail.text?.replaceAll(/ +/g, " ")).toContain(`\nOnly changes since: ${inWords(since)}\n`);
  expect(mail.html).toMatch(new RegExp(`>Only changes since</th><td[^>]*>${inWords(since)}<`));
});

test("prevents an organization's name from adding a header, a recipient or a line to the mail", async () => {
  await using server = await openMailServer();
  const orgName = "Evil\r\nBcc: victim@example.com\r\n\r\nBody\u2028\u202etxt.exe";
  const { app, runner, person, id } = await openWithReady({ smtpUrl: server.url }, { orgName });
  await using _app = app;
  await using _runner = runner;
  await runner.mail(id);
  expect(server.received.map(({ to }) => to)).toEqual([[person.user.email]]);
  const { headers, text } = await parseMail(server.received[0]?.content ?? Buffer.of());
  expect(headers["bcc"]).toBeUndefined();
  expect(headers["subject"]).toBe("Your export of Evil Bcc: victim@example.com Body txt.exe is ready");
  expect(text.split("\n")[0]).toBe("Your export of Evil Bcc: victim@example.com Body txt.exe is ready.");
});

test("writes the mail to a file that only its owner can read if no mail server is set", async () => {
  const { app, runner, person, id } = await openWithReady();
  await using _app = app;
  await using _runner = runner;
  await runner.mail(id);
  const directory = join(app.deps.config.dataDir, "mail");
  expect(await readdir(directory)).toEqual([`${id}.eml`]);
  const path = join(directory, `${id}.eml`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const { headers, text } = await parseMail(await Bun.file(path).bytes());
  expect(headers["to"]).toBe(person.user.email);
  expect(text).toContain(`/dashboard/exports?job=${id}`);
  expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: true });
});

test("sends a mail once even if it is queued several times", async () => {
  await using server = await openMailServer();
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url });
  await using _app = app;
  await using _runner = runner;
  for (let count = 0; count < 3; count += 1) await runner.mail(id);
  expect(server.received.length).toBe(1);
});

test("sends a mail only once from two processes, even if the mail server is slow", async () => {
  const response = Promise.withResolvers<void>();
  let isConnected = false;
  await using server = await openMailServer({
    onMailFrom(_address, _session, callback) {
      isConnected = true;
      void response.promise.then(() => callback());
    },
  });
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url });
  await using _app = app;
  await using _runner = runner;
  await using other = await openTestRunner(app);
  const first = runner.mail(id);
  await waitFor(() => isConnected);
  await expect(other.mail(id)).rejects.toThrow("another process is sending it");
  response.resolve();
  await first;
  await other.mail(id);
  expect(server.received.length).toBe(1);
  expect(await mailState(app, id)).toMatchObject({ isMailed: true });
});

test("does not resend a mail that was sent while the database connection was lost", async () => {
  const response = Promise.withResolvers<void>();
  let isConnected = false;
  await using server = await openMailServer({
    onMailFrom(_address, _session, callback) {
      isConnected = true;
      void response.promise.then(() => callback());
    },
  });
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url });
  await using _app = app;
  await using _runner = runner;
  const sending = runner.mail(id).then(
    () => "sent",
    () => "failed",
  );
  await waitFor(() => isConnected);
  const broken = await app.db.sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and application_name = 'ulr-jobs' and state = 'idle in transaction'`;
  expect(broken.length).toBe(1);
  // Waits until the transaction that locked the mail has ended, so that the mail is sent without the lock.
  const isGone = async () =>
    (
      await app.db.sql`
    select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`
    ).length === 0;
  await waitFor(isGone);
  response.resolve();
  expect(await sending).toBe("failed");
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: true });
  await runner.mail(id);
  expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: true });
  expect(server.received.length).toBe(1);
});

test("does not wait for a mail server during shutdown", async () => {
  let isConnected = false;
  await using server = await openMailServer({
    onMailFrom() {
      isConnected = true;
    },
    closeTimeout: 1,
  });
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url });
  await using _app = app;
  await using _runner = runner;
  const sending = runner.mail(id);
  await waitFor(() => isConnected);
  runner.leave();
  await expect(sending).rejects.toThrow("Cannot send mail: EABORT");
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: false });
});

test("sends each mail once from several runners, and retries when the mail server is back", async () => {
  const port = chooseFreePort("127.0.0.1");
  const { app, runner, person, id } = await openWithReady({ smtpUrl: `smtp://127.0.0.1:${port}` });
  await using _app = app;
  await using _runner = runner;
  await expect(runner.mail(id)).rejects.toThrow("Cannot send mail: ESOCKET");
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: false });
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "ready" });
  await using server = await openMailServer({}, port);
  await using _first = await openTestRunner(app, { isWorking: true });
  await using _second = await openTestRunner(app, { isWorking: true });
  // Makes the retry due now.
  await app.db.sql`update pgboss.job set start_after = now() where id = ${id}`;
  const other = await makeExportProject(app);
  const { id: otherId } = await jobOf(await postJob(app, other.person));
  await waitFor(async () => (await mailState(app, otherId))?.isMailed);
  await waitFor(async () => (await mailState(app, id))?.isMailed);
  const recipients = server.received.flatMap(({ to }) => to).sort();
  expect(recipients).toEqual([person.user.email, other.person.user.email].sort());
  expect(await listMismatches(app)).toEqual([]);
});

test("retries only after temporary errors, and logs no email address", async () => {
  let code = 451;
  await using server = await openMailServer({
    disabledCommands: [],
    onAuth: (_auth, _session, callback) => callback(null, { user: "me" }),
    onRcptTo: ({ address }, _session, callback) => callback(smtpError(code, address)),
  });
  const { app, runner, person, id } = await openWithReady({
    smtpUrl: withPassword(server.url),
  });
  await using _app = app;
  await using _runner = runner;
  await expect(runner.mail(id)).rejects.toThrow("Cannot send mail: the server answers 451 to RCPT TO");
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: false });
  code = 550;
  await runner.mail(id);
  expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: false });
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "ready" });
  const events = app.logLines.filter(({ event }) => String(event).startsWith("export_mail."));
  expect(events).toMatchObject([
    { event: "export_mail.failed", userId: person.user.id },
    { event: "export_mail.refused", userId: person.user.id, exportJobId: id },
  ]);
  const log = JSON.stringify(app.logLines);
  expect(log).not.toContain(person.user.email);
  expect(log).not.toContain("hunter2");
  const [entry] = await app.db.sql`select output::text from pgboss.job where name = 'send_export_ready'`;
  expect(String(entry?.["output"])).not.toContain(person.user.email);
});

test("sends neither password nor mail without TLS, logs the reason, and retries when the server has TLS", async () => {
  const port = chooseFreePort("127.0.0.1");
  const options = {
    onAuth: (_auth: unknown, _session: unknown, callback: AuthCallback) => callback(null, { user: "me" }),
  };
  const plain = await openMailServer({ ...options, allowInsecureAuth: true }, port);
  const { app, runner, id } = await openWithReady({ smtpUrl: withPassword(plain.url) });
  await using _app = app;
  await using _runner = runner;
  await expect(runner.mail(id)).rejects.toThrow("STARTTLS");
  expect(plain.received).toEqual([]);
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: false });
  const warning = app.logLines.find(({ event }) => event === "export_mail.failed");
  expect(warning).toMatchObject({ level: "warn", err: { message: expect.stringContaining("Use smtps://") } });
  await plain[Symbol.asyncDispose]();
  await using secure = await openMailServer({ ...options, disabledCommands: [] }, port);
  await runner.mail(id);
  expect(secure.received.length).toBe(1);
  expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: true });
});

test("retries a mail if the server rejects the credentials, and does not log the password", async () => {
  await using server = await openMailServer({
    authOptional: false,
    disabledCommands: [],
    onAuth: (_auth, _session, callback) => callback(new Error("Wrong password")),
  });
  const { app, runner, id } = await openWithReady({ smtpUrl: withPassword(server.url) });
  await using _app = app;
  await using _runner = runner;
  await expect(runner.mail(id)).rejects.toThrow("Cannot send mail: the server answers 535 to AUTH");
  expect(await mailState(app, id)).toEqual({ state: "retry", isMailed: false });
  expect(JSON.stringify(app.logLines)).not.toContain("hunter2");
});

test("checks the store without an open transaction, and sends no mail about a missing file", async () => {
  await using server = await openMailServer();
  const { app, runner, id } = await openWithReady({ smtpUrl: server.url }, { isEmpty: true });
  await using _app = app;
  await using _runner = runner;
  const held: unknown[] = [];
  await using watched = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async exists(name) {
        held.push(...(await listOpenTransactions(app.db, [JOBS_APPLICATION])));
        await store.remove(name);
        return store.exists(name);
      },
    }),
  });
  await watched.mail(id);
  expect(held).toEqual([]);
  expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: false });
  expect(server.received).toEqual([]);
});

test("sends no mail to deleted or disabled accounts or former members, or about expired exports", async () => {
  const gone: ((app: TestApp, ids: { userId: string; orgId: string; id: string }) => Promise<unknown>)[] = [
    (app, { userId }) =>
      app.db.sql`update export_jobs set requested_by = gen_random_uuid() where requested_by = ${userId}`,
    (app, { userId }) => app.db.sql`update users set disabled_at = now() where id = ${userId}`,
    (app, { userId, orgId }) =>
      app.db.sql`delete from organization_members where user_id = ${userId} and org_id = ${orgId}`,
    (app, { orgId }) => app.db.sql`delete from organizations where id = ${orgId}`,
    (app, { id }) => ageExportJob(app, id, 72),
  ];
  await using server = await openMailServer();
  for (const remove of gone) {
    const { app, runner, person, id } = await openWithReady({ smtpUrl: server.url }, { isEmpty: true });
    await using _app = app;
    await using _runner = runner;
    await remove(app, { userId: person.user.id, orgId: person.org.id, id });
    await runner.mail(id);
    expect(await mailState(app, id)).toEqual({ state: "completed", isMailed: false });
    expect(app.logLines.at(-1)).toMatchObject({ event: "export_mail.skipped", exportJobId: id });
  }
  expect(server.received).toEqual([]);
});

test("retries a mail for at least twelve hours", async () => {
  await using app = await openTestApp();
  const [queue] = await app.db.sql<{ retryLimit: number; retryDelay: number; retryDelayMax: number }[]>`
    select retry_limit, retry_delay, retry_delay_max
    from pgboss.queue
    where name = 'send_export_ready' and retry_backoff`;
  const { retryLimit = 0, retryDelay = 0, retryDelayMax = 0 } = queue ?? {};
  // pg-boss randomizes each delay, but waits for at least half of it.
  const delays = Array.from({ length: retryLimit }, (_, count) =>
    Math.min(retryDelay * 2 ** count, retryDelayMax),
  );
  expect(delays.reduce((sum, delay) => sum + delay / 2, 0)).toBeGreaterThan(12 * 3600);
});
