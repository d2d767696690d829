/** Tests that a build limits the writes of its progress and the growth of the runner's memory. */
import { expect, test } from "bun:test";
import { fillProject } from "../../bench/bench_data.ts";
import { peakBytes, residentBytes } from "../../bench/machine.ts";
import { getJob, jobOf, postJob } from "../../helpers/exports/export_job.ts";
import { addNoise, makeHeavyOrg } from "../../helpers/exports/heavy_org.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { withoutTriggers } from "../../helpers/postgres/without_triggers.ts";
import { openTestRunner } from "../../helpers/process/job_runner.ts";
import { startRunner } from "../../helpers/process/runner_process.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const MIB = 2 ** 20;
/** Maximum growth of a runner's memory above its idle memory, for an organization of any size. */
const MAX_GROWTH_MIB = 96;
const AS_OF = "2026-11-20T00:00:00.000Z";

test("writes the progress of a build at most once a second", async () => {
  await using app = await openTestApp();
  const { person, projects } = await makeHeavyOrg(app, 1);
  for (const project of projects) await addNoise(app.db, project, 3);
  await app.db.owner`create table progress_writes (at timestamptz not null default clock_timestamp())`;
  await app.db.owner.unsafe(`
    create function note_progress() returns trigger language plpgsql
      as 'begin insert into progress_writes default values; return null; end';
    create trigger note_progress after update on export_jobs for each row
      when (old.status = 'running' and new.status = 'running') execute function note_progress()`);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app, {
    store: (store) => ({
      ...store,
      // Slows the store down, so that the build takes some seconds even on a fast machine.
      async write(key, content) {
        async function* slowly() {
          for await (const chunk of content) {
            await Bun.sleep(80);
            yield chunk;
          }
        }
        return store.write(key, slowly());
      },
    }),
  });
  await runner.build(id);
  const [{ writes, seconds }] = await app.db.sql<[{ writes: number; seconds: number }]>`
    select (select count(*) from progress_writes) as writes, extract(epoch from ready_at - started_at)::float8 as seconds
    from export_jobs
    where id = ${id}`;
  expect(writes).toBeGreaterThan(2);
  expect(writes).toBeLessThanOrEqual(Math.floor(seconds) + 1);
});

test("a runner's memory grows by at most 96 MiB for an organization with 62,000 rows and 120 MiB of text", async () => {
  await using app = await openTestApp({ config: { rateLimitUserPerMinute: 1_000_000 } });
  const { person } = await makeHeavyOrg(app, 120);
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  await withoutTriggers(app.db, (tx) => fillProject(tx, project.id, 27_500));
  await app.db.owner`analyze`;
  const { databaseUrl, dataDir } = app.deps.config;
  await using runner = await startRunner({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
  const idle = await residentBytes(runner.pid);
  for (const format of ["ndjson", "csv"]) {
    const { id } = await jobOf(await postJob(app, person, { as_of: AS_OF, format }));
    await waitFor(async () => (await getJob(app, person.key, id)).status === "ready");
    expect((await getJob(app, person.key, id)).progress.rowsWritten).toBeGreaterThan(62_000);
  }
  expect(((await peakBytes(runner.pid)) - idle) / MIB).toBeLessThan(MAX_GROWTH_MIB);
});
