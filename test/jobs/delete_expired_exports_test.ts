/** Tests that the sweep deletes only expired files and the files of abandoned builds. */
import { expect, test } from "bun:test";
import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { artifactKeyOf } from "../../jobs/artifact_key.ts";
import { deleteExpiredExports } from "../../jobs/delete_expired_exports.ts";
import type { RunnerDeps } from "../../jobs/runner_deps.ts";
import {
  ageExportJob,
  downloadJob,
  errorOf,
  getJob,
  jobOf,
  listAudited,
  postJob,
  storedFiles,
} from "../helpers/exports/export_job.ts";
import { makeExportProject } from "../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openListeningApp } from "../helpers/http/listening_app.ts";
import { openTestRunner, type TestRunner } from "../helpers/process/job_runner.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NEVER = new AbortController().signal;

async function makeReady(app: TestApp, runner: TestRunner) {
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await runner.build(id);
  return { person, id };
}

/** Writes a file into the store and sets its age. Returns its name. */
async function putFile(app: TestApp, name: string, ageHours = 0): Promise<string> {
  const directory = fileURLToPath(app.deps.config.artifactUrl);
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  await Bun.write(path, "content");
  const writtenAt = new Date(Date.now() - ageHours * 3_600_000);
  await utimes(path, writtenAt, writtenAt);
  return name;
}

function keyOf(id: string, attempt: number): string {
  return artifactKeyOf({ id, attempt, buildId: crypto.randomUUID() });
}

const partOf = (key: string): string => `${key}.${crypto.randomUUID()}.part`;

test("expires an export after 72 hours, deletes its file, and audits the expiry as an action by the service", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const { person, id } = await makeReady(app, runner);
  await ageExportJob(app, id, 71);
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "ready" });
  expect((await downloadJob(app, person.key, id)).status).toBe(200);
  await ageExportJob(app, id, 1);
  const before = await getJob(app, person.key, id);
  expect(await errorOf(await downloadJob(app, person.key, id))).toEqual([410, "EXPORT_EXPIRED"]);
  expect((await storedFiles(app)).length).toBe(1);
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await getJob(app, person.key, id)).toEqual({ ...before, status: "expired" });
  expect(await storedFiles(app)).toEqual([]);
  expect(await errorOf(await downloadJob(app, person.key, id))).toEqual([410, "EXPORT_EXPIRED"]);
  await deleteExpiredExports(runner.deps, NEVER);
  expect((await listAudited(app, id)).slice(-2)).toEqual([
    expect.objectContaining({ action: "export_job.download" }),
    { action: "export_job.expire", actorUserId: null, credentialId: null, orgId: person.org.id },
  ]);
});

test("deletes the files of exports that the command in docs/operating.md expires early", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const [old, young] = [await makeReady(app, runner), await makeReady(app, runner)];
  await ageExportJob(app, old.id, 25);
  await ageExportJob(app, young.id, 23);
  const page = await Bun.file(new URL("../../docs/operating.md", import.meta.url)).text();
  const [, section = ""] = page.split("\n### Expire exports early\n");
  const [, statement = ""] = /--command "([^"]+)"/.exec(section) ?? [];
  await app.db.sql.unsafe(statement);
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await getJob(app, old.person.key, old.id)).toMatchObject({ status: "expired" });
  expect(await errorOf(await downloadJob(app, old.person.key, old.id))).toEqual([410, "EXPORT_EXPIRED"]);
  expect(await storedFiles(app)).toHaveLength(1);
  const { status, readyAt = "", expiresAt = "" } = await getJob(app, young.person.key, young.id);
  expect([status, Date.parse(expiresAt) - Date.parse(readyAt)]).toEqual(["ready", 24 * 3_600_000]);
  expect((await downloadJob(app, young.person.key, young.id)).status).toBe(200);
});

test("keeps a file for two seconds after expiry, so that a late download can open it", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const { person, id } = await makeReady(app, runner);
  await app.db.sql`update export_jobs set expires_at = now() - interval '1 second' where id = ${id}`;
  expect(await errorOf(await downloadJob(app, person.key, id))).toEqual([410, "EXPORT_EXPIRED"]);
  await expect(deleteExpiredExports(runner.deps, AbortSignal.abort())).rejects.toThrow();
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "expired" });
  const [{ ageSeconds }] = await app.db.sql<[{ ageSeconds: number }]>`
    select extract(epoch from now() - expires_at)::float8 as age_seconds from export_jobs where id = ${id}`;
  expect(ageSeconds).toBeGreaterThanOrEqual(2);
});

test("expires each export once when several sweeps run at the same time", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { id } = await makeReady(app, runner);
    await ageExportJob(app, id, 72);
    ids.push(id);
  }
  await Promise.all(Array.from({ length: 4 }, () => deleteExpiredExports(runner.deps, NEVER)));
  expect(await storedFiles(app)).toEqual([]);
  for (const id of ids) {
    const expired = (await listAudited(app, id)) as { action: string }[];
    expect(expired.filter(({ action }) => action === "export_job.expire").length).toBe(1);
  }
});

test("marks an export as expired in the next sweep if a sweep crashes after deleting the file", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const { person, id } = await makeReady(app, runner);
  await ageExportJob(app, id, 72);
  await app.db
    .owner`alter table audit_log add constraint no_expiry check (action <> 'export_job.expire') not valid`;
  await expect(deleteExpiredExports(runner.deps, NEVER)).rejects.toThrow("no_expiry");
  expect(await storedFiles(app)).toEqual([]);
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "ready" });
  await app.db.owner`alter table audit_log drop constraint no_expiry`;
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "expired" });
});

test("keeps an export ready if its file cannot be deleted, and still expires other exports", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const stuck = await makeReady(app, runner);
  const { person, id } = await makeReady(app, runner);
  await ageExportJob(app, stuck.id, 73);
  await ageExportJob(app, id, 72);
  const deps: RunnerDeps = {
    ...runner.deps,
    store: {
      ...runner.deps.store,
      async remove(name) {
        if (name.startsWith(stuck.id)) throw new Error("the store is away");
        return runner.deps.store.remove(name);
      },
    },
  };
  await deleteExpiredExports(deps, NEVER);
  expect(await getJob(app, stuck.person.key, stuck.id)).toMatchObject({ status: "ready" });
  expect(await getJob(app, person.key, id)).toMatchObject({ status: "expired" });
  expect(app.logLines).toContainEqual(expect.objectContaining({ event: "artifact.delete_failed" }));
});

test("finishes a download that is in progress when the export expires", async () => {
  await using server = await openListeningApp();
  const { app } = server;
  await using runner = await openTestRunner(app);
  const { person, id } = await makeReady(app, runner);
  // Larger than the buffers of the sockets and the client, so the download is still running when the file is deleted.
  const content = Buffer.alloc(64 << 20, "export ");
  const [name = ""] = await storedFiles(app);
  await Bun.write(join(fileURLToPath(app.deps.config.artifactUrl), name), content);
  await app.db.sql`update export_jobs set artifact_bytes = ${content.length} where id = ${id}`;
  const response = await fetch(`${server.origin}/api/v1/export/jobs/${id}/download`, {
    headers: { authorization: `Bearer ${person.key}` },
  });
  expect(response.status).toBe(200);
  const chunks = response.body?.[Symbol.asyncIterator]();
  let bytes = (await chunks?.next())?.value?.length ?? 0;
  await ageExportJob(app, id, 72);
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await storedFiles(app)).toEqual([]);
  for (let next = await chunks?.next(); next && !next.done; next = await chunks?.next())
    bytes += next.value.length;
  expect(bytes).toBe(content.length);
});

test("deletes files of dead attempts, and keeps unrelated files and files of running builds and ready jobs", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  const ready = await makeReady(app, runner);
  const [readyKey = ""] = await storedFiles(app);
  const move = async (status: string, attempt: number): Promise<string> => {
    const { id } = await jobOf(await postJob(app, await app.make.person()));
    const isFailed = status === "failed";
    await app.db.sql`
      update export_jobs
      set status = ${status}, attempt = ${attempt}, finished_at = ${isFailed ? "2026-01-01" : null},
        error_code = ${isFailed ? "BUILD_FAILED" : null}, error_message = ${isFailed ? "failed" : null}
      where id = ${id}`;
    return id;
  };
  const running = await move("running", 2);
  const queued = await move("queued", 1);
  const failed = await move("failed", 3);
  const kept = [
    readyKey,
    keyOf(running, 2),
    partOf(keyOf(running, 2)),
    "README.txt",
    `${running}.zip`,
    `${running}.1.zip`,
    "x.1.y.zip",
  ];
  for (const name of kept.slice(1)) await putFile(app, name);
  for (const key of [keyOf(ready.id, 1), keyOf(running, 1), keyOf(queued, 1), keyOf(failed, 3)]) {
    await putFile(app, key);
    await putFile(app, partOf(key));
  }
  await putFile(app, partOf(readyKey));
  await deleteExpiredExports(runner.deps, NEVER);
  expect(await storedFiles(app)).toEqual(kept.sort());
});

test("keeps files of unknown jobs as long as another database may still serve them", async () => {
  await using app = await openTestApp();
  await using runner = await openTestRunner(app);
  // The first build makes this database the owner of the store.
  await makeReady(app, runner);
  const [readyKey = ""] = await storedFiles(app);
  const young = keyOf(crypto.randomUUID(), 1);
  const old = keyOf(crypto.randomUUID(), 1);
  const margin = 24;
  for (const [key, ageHours] of [
    [young, runner.deps.config.exportRetentionHours + margin - 1],
    [old, runner.deps.config.exportRetentionHours + margin + 1],
  ] as const) {
    await putFile(app, key, ageHours);
    await putFile(app, partOf(key), ageHours);
  }
  await deleteExpiredExports(runner.deps, NEVER);
  const kept = (await storedFiles(app)).filter((name) => name !== readyKey);
  expect(kept.map((name) => name.slice(0, young.length))).toEqual([young, young]);
});

test("does not delete the file of a running build in repeated sweeps", async () => {
  await using app = await openTestApp();
  await using sweeper = await openTestRunner(app);
  let sweeps = 0;
  const sweep = async () => {
    await deleteExpiredExports(sweeper.deps, NEVER);
    sweeps += 1;
  };
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      async write(key, content) {
        async function* swept() {
          for await (const chunk of content) {
            await sweep();
            yield chunk;
          }
          await sweep();
        }
        const digest = await store.write(key, swept());
        await sweep();
        return digest;
      },
    }),
  });
  const { person, id } = await makeReady(app, runner);
  expect(sweeps).toBeGreaterThan(2);
  await deleteExpiredExports(sweeper.deps, NEVER);
  expect((await downloadJob(app, person.key, id)).status).toBe(200);
});

test("sweeps when a runner starts, and runners share one schedule, which is replaced when the setting changes", async () => {
  await using app = await openTestApp();
  const schedules = () =>
    app.db.sql`select name, cron, timezone from pgboss.schedule where name = 'expire_org_exports'`;
  await using builder = await openTestRunner(app);
  const { person, id } = await makeReady(app, builder);
  await ageExportJob(app, id, 72);
  {
    await using _first = await openTestRunner(app, { isWorking: true });
    await using _second = await openTestRunner(app, { isWorking: true });
    expect([...(await schedules())]).toEqual([
      { name: "expire_org_exports", cron: "*/5 * * * *", timezone: "UTC" },
    ]);
    await waitFor(async () => (await getJob(app, person.key, id)).status === "expired");
  }
  await using _third = await openTestRunner(app, {
    config: { exportSweepCron: "7 3 * * *" },
    isWorking: true,
  });
  expect([...(await schedules())]).toEqual([
    { name: "expire_org_exports", cron: "7 3 * * *", timezone: "UTC" },
  ]);
});

test("logs a failed sweep", async () => {
  await using app = await openTestApp();
  await app.db.owner`alter table export_jobs rename to elsewhere`;
  await using _runner = await openTestRunner(app, { isWorking: true });
  const isLogged = () =>
    app.logLines.find(({ event, job }) => event === "job.given_up" && job === "expire_org_exports");
  expect(await waitFor(isLogged)).toMatchObject({ level: "error" });
});

test("sweeps on schedule", async () => {
  await using app = await openTestApp();
  await using _runner = await openTestRunner(app, {
    config: { exportSweepCron: "* * * * *" },
    isWorking: true,
  });
  const swept = async () => {
    const [row] = await app.db.sql<[{ count: number }]>`
      select count(*) from pgboss.job where name = 'expire_org_exports' and state = 'completed'`;
    return row.count >= 2;
  };
  await waitFor(swept);
});
