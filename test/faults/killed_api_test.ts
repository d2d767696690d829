/** A killed API process: downloads resume at another process, and writes are applied completely or not at all. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { agentYaml, ask, createAgent } from "../helpers/definitions/definitions.ts";
import { listTroubles } from "../helpers/exports/aftermath.ts";
import { getJob, JOBS_PATH, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { listOpenTransactions, untilNoneIsOpen } from "../helpers/postgres/open_transactions.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NOISE_MIB = 24;
/** More than two row groups and the socket buffers on both sides, in MiB. */
const PARQUET_MIB = 56;

test("a download cut off by killing an API process resumes from another process, and the two parts form the whole file", async () => {
  await using app = await openTestApp();
  const { person, projects } = await makeHeavyOrg(app, 1);
  for (const project of projects.slice(0, 1)) await addNoise(app.db, project, NOISE_MIB);
  const { id } = await jobOf(await postJob(app, person));
  await using mailServer = await openMailServer();
  await using runner = await openTestRunner(app, { config: { smtpUrl: mailServer.url } });
  await runner.build(id);
  const { artifact } = await getJob(app, person.key, id);
  const { databaseUrl, dataDir } = app.deps.config;
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const headers = { authorization: `Bearer ${person.key}` };
  await using first = await startApi(env);
  await using second = await startApi(env);

  using download = await beginDownload(`${first.url}${JOBS_PATH}/${id}/download`, headers);
  first.kill("SIGKILL");
  await first.exited;
  const broken = await download.readOn();
  expect(broken.status).toBe(200);
  expect(broken.isWhole).toBe(false);
  expect(broken.body.length).toBeGreaterThan(0);
  expect(broken.body.length).toBeLessThan(artifact?.bytes ?? 0);

  const rest = await fetch(`${second.url}${JOBS_PATH}/${id}/download`, {
    headers: {
      ...headers,
      range: `bytes=${broken.body.length}-`,
      "if-range": broken.headers.get("etag") ?? "",
    },
  });
  expect(rest.status).toBe(206);
  const whole = Buffer.concat([broken.body, Buffer.from(await rest.arrayBuffer())]);
  expect(whole.length).toBe(artifact?.bytes ?? 0);
  expect(createHash("sha256").update(whole).digest("hex")).toBe(artifact?.sha256 ?? "");
  await runner.mail(id);
  expect(await listTroubles({ db: app.db, dataDir, mailServer })).toEqual([]);
});

test("an export cut off by killing the API process is detectably incomplete in every format and leaves no transaction", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  await addNoise(app.db, project, PARQUET_MIB);
  const paths = ["runs", "runs?format=csv", "runs?format=parquet", "bundle?format=parquet"];
  const { databaseUrl, dataDir } = app.deps.config;
  await using process = await startApi({
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    EXPORT_STREAMS_PER_USER: String(paths.length),
  });
  const headers = { authorization: `Bearer ${person.key}` };
  const begun = await Promise.all(
    paths.map((path) =>
      beginDownload(`${process.url}/api/v1/export/projects/${project.id}/${path}`, headers),
    ),
  );
  expect(await listOpenTransactions(app.db)).toHaveLength(paths.length);
  process.kill("SIGKILL");
  await process.exited;
  for (const download of begun) {
    const { status, isWhole, body } = await download.readOn();
    expect([status, isWhole, body.subarray(-4).toString("latin1") === "PAR1"]).toEqual([200, false, false]);
    // A truncated ZIP has no end-of-central-directory record.
    expect(body.subarray(-64).includes("PK\x05\x06")).toBe(false);
  }
  await untilNoneIsOpen(app.db);
});

test("a batch cut off by killing the API process stores nothing and can be sent again", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  await createAgent(app, person, { name: "z" });
  const { databaseUrl, dataDir } = app.deps.config;
  await using process = await startApi({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
  const names = Array.from({ length: 20 }, (_, n) => `agent-${n}`);
  const body = [...names.map((name) => agentYaml(name)), agentYaml("z", "1.0.1")].join("---\n");
  const request = { method: "POST", headers: { "content-type": "application/yaml" }, body };
  await app.db.owner.begin(async (tx) => {
    await tx`select from definition_lines where name = 'z' for update`;
    const lost = ask(process, "/batch", person, request).catch(() => null);
    await waitFor(async () => {
      const waiting = await app.db.admin`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%definition_lines%'`;
      return waiting.length > 0;
    });
    process.kill("SIGKILL");
    await process.exited;
    expect(await lost).toBeNull();
  });
  const [row] = await app.db.sql`
    select
      (select count(*) from definitions) as definitions, (select count(*) from definition_lines) as lines,
      (select count(*) from audit_log) as entries`;
  expect(row).toEqual({ definitions: 1, lines: 1, entries: 1 });
  expect((await ask(app, "/batch", person, request)).status).toBe(201);
});
