/** The service behind a real PgBouncer in transaction mode, with fewer sessions than clients. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import { OWN_APPLICATION_NAMES } from "../../sql/connection/application_names.ts";
import { openPool } from "../../sql/connection/pool.ts";
import { makeAccount, type SignedIn } from "../helpers/accounts/accounts.ts";
import { runCommand as runAdminCommand } from "../helpers/accounts/admin.ts";
import { listed, makeVersion } from "../helpers/definitions/definition_list.ts";
import { downloadJob, getJob, jobOf, postJob, unzip } from "../helpers/exports/export_job.ts";
import {
  AFTER_ALL,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../helpers/exports/export_project.ts";
import { addNoise, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { makeAuthority, makeServerCertificate } from "../helpers/network/certificates.ts";
import { openMailServer } from "../helpers/network/mail_server.ts";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { openTlsServer } from "../helpers/postgres/tls_server.ts";
import { type ApiProcess, spawnApi, startApi } from "../helpers/process/api_process.ts";
import { runCommand } from "../helpers/process/command.ts";
import { spawnRunner, startRunner } from "../helpers/process/runner_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { startPgBouncer } from "./pgbouncer.ts";

/** Fewer than the connections that each process opens. */
const SESSIONS = 2;
/** More than the socket buffers between client and server, in MiB. */
const NOISE_MIB = 24;

/** Creates a database whose defaults would change every timestamp, and which has no sessions of earlier tests. */
async function openForeignDatabase(): Promise<TestDatabase> {
  const db = await createTestDatabase();
  const name = new URL(db.url).pathname.slice(1);
  await db.admin.unsafe(`alter database ${name} set timezone = 'Asia/Tokyo'`);
  await db.admin.unsafe(`alter database ${name} set datestyle = 'SQL, DMY'`);
  return db;
}

async function openService(db: TestDatabase) {
  const pooler = await startPgBouncer(db.url, { settings: { default_pool_size: SESSIONS } });
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-pooled-"));
  const env = {
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: db.url,
    DATA_DIR: dataDir,
    RATE_LIMIT_USER_PER_MINUTE: "1000000",
  };
  return {
    env,
    async [Symbol.asyncDispose]() {
      await pooler[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Lists the application names of the sessions whose current or last statement starts with this text. */
async function listSessions({ sql }: TestDatabase, statement: string): Promise<string[]> {
  const rows = await sql<{ applicationName: string }[]>`
    select application_name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike ${`${statement}%`}`;
  return rows.map(({ applicationName }) => applicationName);
}

test("requests share the pooler's few database sessions, and expiry times are computed in UTC", async () => {
  await using db = await openForeignDatabase();
  await using service = await openService(db);
  await using api = await startApi(service.env);
  const make = createFactory(db.sql);
  const account = await makeAccount({ make });
  const before = Date.now();
  const login = await api.request("/api/v1/auth/login", {
    method: "POST",
    body: { email: account.email, password: account.password },
  });
  const { data } = (await login.json()) as { data: SignedIn };
  expect(Date.parse(data.expiresAt) - before).toBeWithin(335 * 3_600_000, 337 * 3_600_000);
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => api.request("/api/v1/auth/me", { key: data.sessionToken })),
  );
  expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
  const pooled = await listSessions(db, "");
  expect(pooled.filter((name) => name === "ulr-api-pooled")).toHaveLength(SESSIONS);
  expect(await listSessions(db, "listen")).toEqual([]);
});

test("session settings for a list query do not affect later clients of the pooled session", async () => {
  await using db = await openForeignDatabase();
  await using service = await openService(db);
  await using api = await startApi(service.env);
  const { org, user } = await createFactory(db.sql).person();
  await makeVersion(db.sql, { orgId: org.id, authorId: user.id, name: "reviewer" });
  const lists = Array.from({ length: 20 }, (_, limit) => listed(api, `search=reviewer&limit=${limit + 1}`));
  expect(await Promise.all(lists)).toEqual(Array(20).fill(["reviewer@1.0.0"]));
  // The API has not bypassed the pooler.
  expect(await listSessions(db, "")).not.toContain("ulr-api");
  const next = openPool(service.env.DATABASE_URL, {
    applicationName: "test",
    max: SESSIONS,
    isPooled: true,
  });
  const settings = await Promise.all(
    Array.from(
      { length: 20 },
      () => next`
        select current_setting('statement_timeout') as timeout, current_setting('plan_cache_mode') as plans,
          current_setting('lock_timeout') as lock_timeout`,
    ),
  );
  await next.end({ timeout: 1 });
  for (const rows of settings)
    expect([...rows]).toEqual([{ timeout: "0", plans: "auto", lockTimeout: "3s" }]);
});

test("datasets, a bundle and an organization export are complete and match the database", async () => {
  await using db = await openForeignDatabase();
  await using service = await openService(db);
  await using mailServer = await openMailServer();
  await using api = await startApi(service.env);
  await using _runner = await startRunner({ ...service.env, SMTP_URL: mailServer.url });
  const { person, project } = await makeExportProject({ make: createFactory(db.sql) });

  const all = `?include_deleted=true&as_of=${AFTER_ALL}`;
  const rows = await ndjsonRows(await exportDataset(api, { person, project }, "issues", all));
  const stored = await db.sql<{ id: string; createdAt: string }[]>`
    select id, created_at from issues where project_id = ${project.id}`;
  const keyed = (list: readonly { id?: unknown; createdAt?: unknown }[]) =>
    list.map(({ id, createdAt }) => `${id} ${createdAt}`).sort();
  expect(keyed(rows)).toEqual(keyed(stored));

  const bundle = await exportDataset(api, { person, project }, "bundle");
  const names = [...(await unzip(await bundle.arrayBuffer())).keys()];
  expect(names).toEqual(
    expect.arrayContaining([...EXPORT_DATASET_NAMES.map((name) => `${name}.ndjson`), "manifest.json"]),
  );

  const { id } = await jobOf(await postJob(api, person));
  const ready = await waitFor(async () => {
    const job = await getJob(api, person.key, id);
    return job.status === "ready" ? job : null;
  });
  const file = Buffer.from(await (await downloadJob(api, person.key, id)).arrayBuffer());
  expect(createHash("sha256").update(file).digest("hex")).toBe(ready.artifact?.sha256 ?? "");
  await waitFor(() => mailServer.received.length === 1);
});

test("an export is canceled if its client disconnects", async () => {
  await using db = await openForeignDatabase();
  await using service = await openService(db);
  await using api = await startApi({ ...service.env, EXPORT_STREAMS_MAX: "1" });
  const { person, projects } = await makeHeavyOrg({ db, make: createFactory(db.sql) }, 1);
  const [project] = projects;
  if (!project) throw new Error("Cannot go on: there is no project");
  await addNoise(db, project, NOISE_MIB);
  const url = `${api.url}/api/v1/export/projects/${project.id}/runs`;
  const download = await beginDownload(url, { authorization: `Bearer ${person.key}` });
  expect(await listRunningCopies(db)).toBe(1);
  download[Symbol.dispose]();
  await waitFor(async () => (await listRunningCopies(db)) === 0);
  // The next export needs the only slot and its connection.
  const rows = await waitFor(async () => {
    const next = await exportDataset(api, { person, project }, "issues");
    if (next.status === 200) return ndjsonRows(next);
    // The canceled export may still use the organization's only slot.
    expect(next.status).toBe(429);
    await next.body?.cancel();
    return null;
  });
  expect(rows).not.toBeEmpty();
});

async function listRunningCopies({ sql }: TestDatabase): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from pg_stat_activity
    where datname = current_database() and state = 'active' and query ilike 'copy %'`;
  return row.count;
}

test("every process rejects a pooler's URL without DATABASE_DIRECT_URL, with a one-line error", async () => {
  await using db = await openTestDatabase();
  await using pooler = await startPgBouncer(db.url);
  const reason =
    "the database is behind a connection pooler; set DATABASE_DIRECT_URL to an address of PostgreSQL itself";
  const env = { DATABASE_URL: pooler.url };
  for (const spawn of [spawnApi, spawnRunner]) {
    await using service = spawn(env);
    expect([await service.exited, service.problems()]).toEqual([1, `Cannot start: ${reason}\n`]);
  }
  const sync = new URL("../../catalog-sync/main.ts", import.meta.url).pathname;
  const { stderr } = await runCommand([process.execPath, sync, "--once"], { env });
  expect(stderr).toBe(`Cannot start: ${reason}\n`);
  const { exitCode, err } = await runAdminCommand(pooler.url, ["migrate"]);
  expect([exitCode, err]).toEqual([1, `Cannot complete the command: ${reason}\n`]);
});

test("migrate succeeds behind a pooler if DATABASE_DIRECT_URL is set", async () => {
  await using db = await openTestDatabase();
  await using pooler = await startPgBouncer(db.url);
  const { exitCode } = await runAdminCommand(pooler.url, ["migrate"], { DATABASE_DIRECT_URL: db.url });
  expect(exitCode).toBe(0);
});

test("a runner does not leave its application name on pooled sessions that other clients reuse", async () => {
  await using db = await openTestDatabase();
  await using service = await openService(db);
  await using _runner = await startRunner(service.env);
  // Like many drivers, this one sends no application name. Its session may have the name of the pooler's earlier client.
  const tracker = postgres(service.env.DATABASE_URL, {
    prepare: false,
    connection: { application_name: "" },
  });
  const [row] = await tracker`select current_setting('application_name') as name`;
  await tracker.end();
  expect(OWN_APPLICATION_NAMES).not.toContain(row?.["name"]);
});

test("a DATABASE_DIRECT_URL that leads to a different database than DATABASE_URL is rejected", async () => {
  await using db = await openTestDatabase();
  await using other = await openTestDatabase();
  await using pooler = await startPgBouncer(db.url);
  await using api: Pick<ApiProcess, "exited" | "problems"> & AsyncDisposable = spawnApi({
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: other.url,
  });
  expect([await api.exited, api.problems()]).toEqual([
    1,
    "Cannot start: DATABASE_URL and DATABASE_DIRECT_URL lead to different databases; set both to the same one\n",
  ]);
});

test("with TLS settings for PgBouncer, the pooler verifies PostgreSQL's certificate, and APIs verify the pooler's", async () => {
  await using server = await openTlsServer();
  await server.install("IP:127.0.0.1");
  await server.requireTls();
  await using db = await openTestDatabase(server.url);
  const directory = await mkdtemp(join(tmpdir(), "ulr-pooler-tls-"));
  try {
    await chmod(directory, 0o755);
    const authority = await makeAuthority(directory, "pooler");
    const { certPath, keyPath } = await makeServerCertificate(authority, "IP:127.0.0.1");
    const serverAuthority = join(directory, "server.crt");
    await copyFile(server.authority, serverAuthority);
    // PgBouncer runs as another user, who must be able to read these files.
    for (const path of [certPath, keyPath, serverAuthority]) await chmod(path, 0o644);
    const settings = {
      server_tls_sslmode: "verify-full",
      server_tls_ca_file: serverAuthority,
      client_tls_sslmode: "require",
      client_tls_cert_file: certPath,
      client_tls_key_file: keyPath,
    };
    await using pooler = await startPgBouncer(db.url, { settings });
    const verified = (path: string) => `?sslmode=verify-full&sslrootcert=${path}`;
    const env = { DATABASE_DIRECT_URL: db.url + verified(server.authority) };
    await using api = await startApi({ ...env, DATABASE_URL: pooler.url + verified(authority) });
    expect((await api.request("/health/ready")).status).toBe(200);
    const [row] = await db.admin`
      select bool_and(ssl) as ssl from pg_stat_activity join pg_stat_ssl using (pid)
      where application_name = 'ulr-api-pooled'`;
    expect(row).toEqual({ ssl: true });

    await using mistaken = spawnApi({ ...env, DATABASE_URL: pooler.url + verified(server.authority) });
    const line = "Cannot reach the database: unable to verify the first certificate\n";
    expect([await mistaken.exited, mistaken.problems()]).toEqual([1, line]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
