/** Tests organization exports that are built from a streaming replica. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { JOBS_APPLICATION } from "../../../sql/connection/application_names.ts";
import { getJob, jobOf, listMismatches, postJob } from "../../helpers/exports/export_job.ts";
import { AFTER_ALL, type ExportProject, makeExportProject } from "../../helpers/exports/export_project.ts";
import { addNoise } from "../../helpers/exports/heavy_org.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { openReplicatedServer, type ReplicatedServer } from "../../helpers/postgres/replicated_server.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { waitFor } from "../../helpers/wait_for.ts";

let server: ReplicatedServer;

beforeAll(async () => {
  server = await openReplicatedServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function openWithProject(): Promise<{ app: TestApp; exported: ExportProject }> {
  const app = await openTestApp({ servers: server });
  const exported = await makeExportProject(app);
  await server.catchUp(app.db.sql);
  return { app, exported };
}

const EVERYTHING = {
  as_of: AFTER_ALL,
  include_deleted: true,
  include_archived: true,
  include_superseded: true,
};

/** Returns the pids of the runner's sessions on the replica that are waiting for a lock in the app's database. */
async function listWaiting(app: TestApp): Promise<number[]> {
  const database = new URL(app.db.url).pathname.slice(1);
  const rows = await server.replica<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = ${database} and application_name = ${JOBS_APPLICATION} and wait_event_type = 'Lock'`;
  return rows.map(({ pid }) => pid);
}

test("reads from the replica, and from the primary after the replica terminates a build's connection", async () => {
  const { app, exported } = await openWithProject();
  await using _app = app;
  await using runner = await openTestRunner(app);
  const { id } = await jobOf(await postJob(app, exported.person, EVERYTHING));
  let building: Promise<unknown> | undefined;
  await app.db.sql.begin(async (tx) => {
    // The replica replays this lock, so a build that reads from the replica waits for it.
    await tx`lock table analysis_records in access exclusive mode`;
    building = runner.build(id).catch((error: unknown) => error);
    const [pid = 0] = await waitFor(async () => {
      const waiting = await listWaiting(app);
      return waiting.length > 0 ? waiting : null;
    });
    await server.replica`select pg_terminate_backend(${pid})`;
    await building;
    const queued = await getJob(app, exported.person.key, id);
    expect(queued).toMatchObject({ status: "queued", attempt: 0, waitingFor: "database" });
  });
  // Pauses replay, so that the next build reads from the primary even if the replica is available again.
  await server.catchUp(app.db.sql);
  await server.holdReplay(true);
  await runner.build(id);
  await server.holdReplay(false);
  expect(await getJob(app, exported.person.key, id)).toMatchObject({
    status: "ready",
    attempt: 1,
    progress: { rowsWritten: Object.keys(exported.ids).length },
  });
  expect(await listMismatches(app)).toEqual([]);
});

test("excludes a deleted project even if the replica has not replayed the deletion", async () => {
  const { app, exported } = await openWithProject();
  await using _app = app;
  const { person, project } = exported;
  // `project` is exported first and is larger than the write buffer. The build therefore reads `deleted` only after its deletion.
  await app.db.sql`update projects set name = '0' where id = ${project.id}`;
  await addNoise(app.db, project, 8);
  const deleted = await app.make.project({ orgId: person.org.id, ownerId: person.user.id, name: "1" });
  await server.catchUp(app.db.sql);
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      write: (key, content) =>
        store.write(
          key,
          afterFirst(content, async () => {
            await server.holdReplay(true);
            await app.db.sql`update projects set deleted_at = now() where id = ${deleted.id}`;
          }),
        ),
    }),
  });
  const { id } = await jobOf(await postJob(app, person, EVERYTHING));
  await runner.build(id);
  await server.holdReplay(false);
  expect(await getJob(app, person.key, id)).toMatchObject({
    status: "ready",
    attempt: 1,
    progress: { projectsDone: 1, projectsTotal: 1 },
  });
});

/** Yields the chunks of `content`, and calls `act` between the first and the second chunk. */
async function* afterFirst(
  content: AsyncIterable<Uint8Array>,
  act: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, void> {
  let chunks = 0;
  for await (const chunk of content) {
    yield chunk;
    chunks += 1;
    if (chunks === 1) await act();
  }
  if (chunks < 2) throw new Error("Cannot tell: everything came in one chunk");
}
