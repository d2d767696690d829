/** PostgreSQL is restarted during a build and two downloads. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { listTroubles, shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import { getJob, JOBS_PATH, jobOf, listMismatches, postJob } from "../helpers/exports/export_job.ts";
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { type ApiProcess, startApi } from "../helpers/process/api_process.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

const NOISE_MIB = 24;
/** Enough rows for a build of one or two seconds. */
const RUNS_A_PROJECT = 120;

async function waitUntilReady(api: ApiProcess, key: string, id: string) {
  return waitFor(async () => {
    const job = await getJob(api, key, id);
    return job.status === "ready" ? job : null;
  });
}

async function isBuilding(db: TestDatabase, id: string): Promise<boolean> {
  const [row] = await db.sql<{ isBuilding: boolean }[]>`
    select status = 'running' and projects_total > 0 as is_building from export_jobs where id = ${id}`;
  return row?.isBuilding ?? false;
}

test("when the database stops, the service finishes a file download and aborts an export; it recovers after a restart", async () => {
  await using server = new OwnServer();
  await using db = await openTestDatabase(await server.start());
  await shortenHeartbeats(db, 6);
  const make = createFactory(db.sql);
  const dataDir = join(server.directory, "service");
  const env = { DATABASE_URL: db.url, DATA_DIR: dataDir, RATE_LIMIT_USER_PER_MINUTE: "1000000" };
  await using mailServer = await openMailServer();
  await using api = await startApi(env);
  await using _runner = await startRunner({ ...env, SMTP_URL: mailServer.url });
  const small = await makeHeavyOrg({ db, make }, 1);
  const [noisy] = small.projects;
  if (!noisy) throw new Error("Cannot go on: there is no project");
  await addNoise(db, noisy, NOISE_MIB);
  const large = await makeHeavyOrg({ db, make }, RUNS_A_PROJECT);
  const { key } = small.person;
  const finished = await jobOf(await postJob(api, small.person));
  const { artifact } = await waitUntilReady(api, key, finished.id);

  const headers = { authorization: `Bearer ${key}` };
  using file = await beginDownload(`${api.url}${JOBS_PATH}/${finished.id}/download`, headers);
  using rows = await beginDownload(`${api.url}/api/v1/export/projects/${noisy.id}/runs`, headers);
  const cutOff = await jobOf(await postJob(api, large.person));
  await waitFor(() => isBuilding(db, cutOff.id));
  await server.stop();

  const [whole, part] = await Promise.all([file.readOn(), rows.readOn()]);
  expect(whole.isWhole).toBe(true);
  expect(createHash("sha256").update(whole.body).digest("hex")).toBe(artifact?.sha256 ?? "");
  expect([part.status, part.isWhole]).toEqual([200, false]);
  const away = await api.request(`${JOBS_PATH}/${finished.id}`, { key });
  expect([away.status, Number(away.headers.get("retry-after")) > 0]).toEqual([503, true]);
  expect((await api.request("/health/ready")).status).toBe(503);

  await server.start();
  await waitFor(async () => (await api.request("/health/ready")).status === 200);
  expect(await listMismatches({ db })).toEqual([]);
  const { attempt } = await waitUntilReady(api, large.person.key, cutOff.id);
  // The attempt that the restart interrupted does not count.
  expect(attempt).toBe(1);
  expect(await listTroubles({ db, dataDir, mailServer })).toEqual([]);
});
