/** A full artifact directory: the job reports it and leaves no file, and the next job succeeds. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ArtifactStorageError, type ArtifactStore, MARKER_NAME } from "../../shared/artifacts/store.ts";
import { listTroubles } from "../helpers/exports/aftermath.ts";
import { getJob, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { makeLargeProject } from "../helpers/exports/large_project.ts";
import { openTestApp, type TestApp } from "../helpers/http/app.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { listOpenTransactions } from "../helpers/postgres/open_transactions.ts";
import { openTestRunner } from "../helpers/process/job_runner.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** About 30 MB of rows. The driver buffers only a few MB, so the full disk interrupts the COPY. */
const ISSUES = 30_000;
/** Enough space for the export, but not in addition to the obstacle. */
const DISK_MIB = 16;
const OBSTACLE = "obstacle";

interface SmallDisk extends AsyncDisposable {
  directory: string;
  /** Starts a job runner that uses this store. */
  startRunner(app: TestApp, options: { smtpUrl: string; patienceMinutes: number }): Promise<AsyncDisposable>;
  /** Frees enough space for the export. */
  free(): Promise<void>;
}

/** Mounts a real file system with almost no free space. Returns null if this machine cannot mount one. */
function mountSmallDisk(directory: string): SmallDisk | null {
  const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", directory]);
  if (mount.exitCode !== 0) return null;
  writeFileSync(join(directory, OBSTACLE), Buffer.alloc((DISK_MIB - 1) * 2 ** 20));
  return {
    directory,
    startRunner: ({ deps: { config } }, { smtpUrl, patienceMinutes }) =>
      startRunner({
        SMTP_URL: smtpUrl,
        EXPORT_BUILD_PATIENCE_MINUTES: String(patienceMinutes),
        DATABASE_URL: config.databaseUrl,
        DATA_DIR: config.dataDir,
        ARTIFACT_URL: pathToFileURL(directory).href,
      }),
    free: () => rm(join(directory, OBSTACLE)),
    async [Symbol.asyncDispose]() {
      Bun.spawnSync(["umount", directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Limits the real store with a quota, for machines that cannot mount a file system. */
function limitStore(directory: string): SmallDisk {
  let quotaBytes = 2 ** 20;
  async function* limited(content: AsyncGenerator<Uint8Array, void, void>) {
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > quotaBytes)
        throw new ArtifactStorageError("Cannot store the artifact: the quota is used up");
      yield chunk;
    }
  }
  const store = (inner: ArtifactStore): ArtifactStore => ({
    ...inner,
    write: (key, content) => inner.write(key, limited(content)),
  });
  return {
    directory,
    startRunner: (app, { smtpUrl, patienceMinutes }) =>
      openTestRunner(app, {
        isWorking: true,
        store,
        config: {
          smtpUrl,
          artifactUrl: pathToFileURL(directory).href,
          exportBuildPatienceMinutes: patienceMinutes,
        },
      }),
    async free() {
      quotaBytes = Number.POSITIVE_INFINITY;
    },
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function openSmallDisk(): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), "ulr-small-"));
  return mountSmallDisk(directory) ?? limitStore(directory);
}

async function openFullDisk(patienceMinutes: number) {
  await using opened = new AsyncDisposableStack();
  const app = opened.use(await openTestApp());
  const disk = opened.use(openSmallDisk());
  const { person } = await makeLargeProject(app, ISSUES);
  const mailServer = opened.use(await openMailServer());
  opened.use(await disk.startRunner(app, { smtpUrl: mailServer.url, patienceMinutes }));
  const later = opened.move();
  return {
    ...{ app, disk, person },
    show: (id: string) => getJob(app, person.key, id),
    listTroubles: () => {
      const { dataDir } = app.deps.config;
      return listTroubles({ db: app.db, dataDir, artifactDirectory: disk.directory, mailServer });
    },
    [Symbol.asyncDispose]: () => later.disposeAsync(),
  };
}

test("with no time to wait for storage, a full disk fails the job with ARTIFACT_STORAGE_FAILED; a later job succeeds", async () => {
  await using place = await openFullDisk(0);
  const { app, disk, person, show } = place;
  const { id } = await jobOf(await postJob(app, person));
  await waitFor(async () => {
    // Makes the next attempt due.
    await app.db.sql`update pgboss.job set start_after = now() where id = ${id} and state = 'retry'`;
    return (await show(id)).status === "failed";
  });
  expect(await show(id)).toMatchObject({ attempt: 3, errorCode: "ARTIFACT_STORAGE_FAILED" });
  expect((await readdir(disk.directory)).sort()).toEqual([MARKER_NAME, OBSTACLE]);
  expect(await listMismatches(app)).toEqual([]);
  expect(await listOpenTransactions(app.db)).toEqual([]);

  await disk.free();
  const next = await jobOf(await postJob(app, person));
  await waitFor(async () => (await show(next.id)).status === "ready");
  expect(await place.listTroubles()).toEqual([]);
});

test("a build on a full disk waits for storage without leaving files, and finishes once there is space", async () => {
  await using place = await openFullDisk(60);
  const { app, disk, person, show } = place;
  const { id } = await jobOf(await postJob(app, person));
  await waitFor(async () => (await show(id)).waitingFor === "storage");
  expect(await show(id)).toMatchObject({ status: "queued", attempt: 0 });
  await waitFor(async () => (await readdir(disk.directory)).length === 2);
  expect((await readdir(disk.directory)).sort()).toEqual([MARKER_NAME, OBSTACLE]);
  expect(await listOpenTransactions(app.db)).toEqual([]);

  await disk.free();
  await waitFor(async () => (await show(id)).status === "ready");
  expect(await show(id)).toMatchObject({ attempt: 1 });
  expect(await place.listTroubles()).toEqual([]);
});
