/** The service with a PostgreSQL that accepts only encrypted connections and has a certificate of a private authority. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand as runAdminCommand } from "../helpers/accounts/admin.ts";
import { downloadJob, getJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject } from "../helpers/exports/export_project.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { openTlsServer, type TlsServer } from "../helpers/postgres/tls_server.ts";
import { type ApiProcess, spawnApi, startApi } from "../helpers/process/api_process.ts";
import { runCommand } from "../helpers/process/command.ts";
import { spawnRunner, startRunner } from "../helpers/process/runner_process.ts";
import type { ServiceProcess } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** More than the socket buffers between client and server, in MiB. */
const NOISE_MIB = 24;
const CATALOG_SYNC = new URL("../../catalog-sync/main.ts", import.meta.url).pathname;

let server: TlsServer;
let db: TestDatabase;
let dataDir: string;
let query: string;
let env: Record<string, string>;
let api: ApiProcess;
let runner: ServiceProcess;

beforeAll(async () => {
  server = await openTlsServer();
  await server.install("IP:127.0.0.1");
  await server.requireTls();
  db = await openTestDatabase(server.url);
  dataDir = await mkdtemp(join(tmpdir(), "ulr-tls-"));
  query = `?sslmode=verify-full&sslrootcert=${server.authority}`;
  env = {
    DATABASE_URL: db.url + query,
    DATABASE_REPLICA_URL: db.url + query,
    DATA_DIR: dataDir,
    CATALOG_SOURCE: "bundled",
  };
  [api, runner] = await Promise.all([startApi(env), startRunner(env)]);
});

afterAll(async () => {
  await Promise.all([api, runner].map((service) => service[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
});

/** Runs a single sync. */
function syncOnce(given: Readonly<Record<string, string>>) {
  return runCommand([process.execPath, CATALOG_SYNC, "--once"], { env: given });
}

test("with sslmode=verify-full, every process works, and all database connections are encrypted", async () => {
  const { person, project } = await makeExportProject({ make: createFactory(db.sql) });
  const dataset = await exportDataset(api, { person, project }, "issues");
  expect([dataset.status, await dataset.text()]).toEqual([200, expect.stringContaining("\n")]);
  const { id } = await jobOf(await postJob(api, person));
  await waitFor(async () => (await getJob(api, person.key, id)).status === "ready");
  expect((await downloadJob(api, person.key, id)).status).toBe(200);
  expect(await syncOnce(env)).toMatchObject({ exitCode: 0, stderr: "" });
  const migrated = await runAdminCommand(db.ownerUrl + query, ["migrate"]);
  expect(migrated).toMatchObject({ exitCode: 0, err: "" });

  const sessions = await db.admin<{ applicationName: string; ssl: boolean }[]>`
      select distinct application_name, ssl
      from pg_stat_activity join pg_stat_ssl using (pid)
      where application_name like 'ulr-%'
      order by application_name`;
  expect([...sessions]).toEqual([
    { applicationName: "ulr-api", ssl: true },
    { applicationName: "ulr-export", ssl: true },
    { applicationName: "ulr-jobs", ssl: true },
  ]);
  // The replica's connections use the same options: the API got far enough to see that the server is not a replica.
  const notReplica = ({ err }: Record<string, unknown>) =>
    JSON.stringify(err)?.includes("leads to a server that is not a replica");
  await waitFor(() => api.logLines().some(notReplica));
});

test("an export's query over TLS ends when its client disconnects", async () => {
  const { person, project } = await makeExportProject({ make: createFactory(db.sql) });
  await addNoise(db, project, NOISE_MIB);
  const countCopies = async () => {
    const rows = await db.admin`
        select from pg_stat_activity where state = 'active' and query ilike 'copy %'`;
    return rows.length;
  };
  const url = `${api.url}/api/v1/export/projects/${project.id}/runs`;
  const download = await beginDownload(url, { authorization: `Bearer ${person.key}` });
  expect(await countCopies()).toBeGreaterThan(0);
  download[Symbol.dispose]();
  await waitFor(async () => (await countCopies()) === 0);
  expect((await exportDataset(api, { person, project }, "issues")).status).toBe(200);
});

test("every process exits with a one-line error if another authority issued the server's certificate", async () => {
  const url = `${db.url}?sslmode=verify-full&sslrootcert=${server.otherAuthority}`;
  const given = { DATABASE_URL: url, DATA_DIR: dataDir };
  const line = "Cannot reach the database: unable to verify the first certificate\n";
  for (const spawn of [spawnApi, spawnRunner]) {
    await using service = spawn(given);
    expect([await service.exited, service.problems()]).toEqual([1, line]);
  }
  expect(await syncOnce(given)).toMatchObject({ exitCode: 1, stderr: line });
  const { exitCode, err } = await runAdminCommand(url, ["migrate"]);
  expect([exitCode, err]).toEqual([1, line]);
});

test("the readiness check returns 503 after the server's certificate expires, until it is renewed", async () => {
  const check = () => api.request("/health/ready").then(({ status }) => status);
  const endSessions = () => db.admin`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ulr-%'`;
  await server.install("IP:127.0.0.1", { days: -1 });
  await endSessions();
  await waitFor(async () => (await check()) === 503);
  await server.install("IP:127.0.0.1");
  await waitFor(async () => (await check()) === 200);
});
