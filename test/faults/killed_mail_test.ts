/** A runner killed after the mail server has received the mail and before the server responds. */
import { expect, test } from "bun:test";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { getJob, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { jobOfMail, openMailServer, type ReceivedMail } from "../helpers/network/mail_server.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("another runner resends the same mail if a runner is killed before the mail server responds", async () => {
  await using app = await openTestApp();
  await shortenHeartbeats(app.db, 6);
  const held: ReceivedMail[] = [];
  await using silent = await openMailServer({
    onData(stream) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => held.push({ from: "", to: [], content: Buffer.concat(chunks) }));
    },
    closeTimeout: 1,
  });
  await using answering = await openMailServer();
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  const show = () => getJob(app, person.key, id);
  const isMailed = async () => {
    const [row] = await app.db.sql`select from export_jobs where id = ${id} and mailed_at is not null`;
    return row !== undefined;
  };
  {
    await using runner = await startRunner({ ...env, SMTP_URL: silent.url });
    await waitFor(() => held.length > 0);
    runner.kill("SIGKILL");
    await runner.exited;
  }
  const before = await show();
  expect([before.status, await isMailed()]).toEqual(["ready", false]);
  await using _another = await startRunner({ ...env, SMTP_URL: answering.url });
  await waitFor(async () => {
    // Makes the next attempt due.
    await app.db.sql`update pgboss.job set start_after = now() where id = ${id} and state = 'retry'`;
    return isMailed();
  });
  expect(answering.received).toMatchObject([{ to: [person.user.email] }]);
  expect([...held, ...answering.received].map(jobOfMail)).toEqual([id, id]);
  expect(await show()).toEqual(before);
  expect(await listMismatches(app)).toEqual([]);
});
