/**
 * API processes and job runners on several hosts behind nginx, with PgBouncer, PostgreSQL, a bucket and a mail
 * server elsewhere in the network, configured by `deploy/`. Needs root.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExportJob } from "../../api/exports/export_job.ts";
import { MARKER_NAME } from "../../shared/artifacts/store.ts";
import { makeAccount, type SignedIn } from "../helpers/accounts/accounts.ts";
import { shortenHeartbeats } from "../helpers/exports/aftermath.ts";
import {
  type Client,
  downloadJob,
  getJob,
  jobOf,
  listMismatches,
  postJob,
  unzip,
} from "../helpers/exports/export_job.ts";
import { exportDataset, ndjsonRows } from "../helpers/exports/export_project.ts";
import { addNoise, HEAVY_PROJECTS, type HeavyOrg, makeHeavyOrg } from "../helpers/exports/heavy_org.ts";
import { HELD_AS_OF } from "../helpers/exports/held_build.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { testRequest } from "../helpers/http/app.ts";
import { jobOfMail, type MailServer, openMailServer } from "../helpers/network/mail_server.ts";
import { type S3Server, startS3Server } from "../helpers/network/s3_server.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Person } from "../helpers/postgres/factory.ts";
import { runCommand } from "../helpers/process/command.ts";
import { type ServiceProcess, spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LanHost, openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";
import { startNginx } from "./nginx.ts";
import { startPgBouncer } from "./pgbouncer.ts";

const PORT = 3000;
const RUNS_A_PROJECT = 5;
/** More than the first parts of an upload, in MiB, so that a blocked build has started an upload. */
const NOISE_MIB = 24;
/**
 * The timeouts in deploy/sysctl.conf and deploy/postgresql.conf and the API's own timeout are at most 30 s. The rest is
 * time for the response.
 */
const NOTICED_MS = 40_000;

interface Host extends LanHost {
  start(): Promise<ServiceProcess>;
}

/** Returns a client of a server, with the test app's interface. */
function clientOf(url: string): Client & { url: string } {
  return { url, request: (path, options) => fetch(testRequest(`${url}${path}`, options)) };
}

const opened = new AsyncDisposableStack();
let db: TestDatabase;
let s3: S3Server;
let mailServer: MailServer;
let runners: [Host, Host];
let apiHosts: [Host, Host];
let apis: [ServiceProcess, ServiceProcess];
let edge: Client & { url: string };
let heavy: HeavyOrg;
/** The address of this machine, which runs the client. */
let here: string;

beforeAll(async () => {
  const lan = opened.use(await openLan());
  here = lan.address;
  const server = opened.use(await startLanPostgres(lan));
  db = opened.use(await openTestDatabase(server.url));
  const pooler = opened.use(await startPgBouncer(db.url, { address: lan.address }));
  s3 = opened.use(await startS3Server(lan.address));
  mailServer = opened.use(await openMailServer({}, 0, lan.address));
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-hosts-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const sysctls = await readSysctls();
  const addHost = async (folder: "api" | "jobs", name: string): Promise<Host> => {
    const host = await lan.addHost(name, sysctls);
    const env = {
      ...s3.env,
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: db.url,
      DATA_DIR: join(dataDir, name),
      HOST: host.address,
      PORT: String(PORT),
      TRUST_PROXY: "true",
      SMTP_URL: mailServer.url,
      RATE_LIMIT_USER_PER_MINUTE: "1000000",
    };
    return {
      ...host,
      async start() {
        const service = spawnService(folder, env, host.prefix);
        await untilLogged(service, folder === "api" ? "listening" : "working");
        return service;
      },
    };
  };
  apiHosts = [await addHost("api", "a1"), await addHost("api", "a2")];
  runners = [await addHost("jobs", "r1"), await addHost("jobs", "r2")];
  const [first, second] = apiHosts;
  apis = await Promise.all([first.start(), second.start()]);
  for (const api of apis) opened.use(api);
  const edgeHost = await lan.addHost("edge", sysctls);
  const nginx = await startNginx(edgeHost, [`${first.address}:${PORT}`, `${second.address}:${PORT}`]);
  edge = clientOf(opened.use(nginx).url);
  await shortenHeartbeats(db, 6);
  heavy = await makeHeavyOrg({ db, make: createFactory(db.sql) }, RUNS_A_PROJECT);
  const [project] = heavy.projects;
  if (project) await addNoise(db, project, NOISE_MIB);
});

afterAll(() => opened.disposeAsync());

/** Reads the settings of deploy/sysctl.conf as arguments of `sysctl`. */
async function readSysctls(): Promise<string[]> {
  const text = await readFile(new URL("../../deploy/sysctl.conf", import.meta.url), "utf8");
  return text.split("\n").flatMap((line) => (/^[a-z]/.test(line) ? [line.replaceAll(" ", "")] : []));
}

function apiOf({ address }: LanHost): Client {
  return clientOf(`http://${address}:${PORT}`);
}

async function countSessions({ address }: LanHost): Promise<number> {
  const [row] = await db.sql<[{ count: number }]>`
    select count(*) from pg_stat_activity where client_addr = ${address}::inet`;
  return row.count;
}

async function untilReady(client: Client, person: Person, id: string): Promise<ExportJob> {
  return waitFor(async () => {
    const job = await getJob(client, person.key, id);
    return job.status === "ready" ? job : null;
  });
}

async function sha256OfDownload(person: Person, id: string): Promise<string> {
  const response = await downloadJob(edge, person.key, id);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

test("exports through nginx are complete, and a session token works on both APIs", async () => {
  const account = await makeAccount({ make: createFactory(db.sql) });
  const { email, password } = account;
  const login = await edge.request("/api/v1/auth/login", { method: "POST", body: { email, password } });
  const { data } = (await login.json()) as { data: SignedIn };
  for (const host of apiHosts) {
    const response = await apiOf(host).request("/api/v1/auth/me", { key: data.sessionToken });
    expect(response.status).toBe(200);
  }
  const { person, projects } = heavy;
  for (const project of projects) {
    const runs = await ndjsonRows(await exportDataset(edge, { person, project }, "runs"));
    const stored = await db.sql<{ id: string; length: number }[]>`
      select id, length(raw_markdown) as length from runs where project_id = ${project.id} order by id`;
    const read = runs.map((run) => ({ id: String(run["id"]), length: String(run["rawMarkdown"]).length }));
    expect(read.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([...stored]);
  }
  const [, project = { id: "" }] = projects;
  const bundle = await edge.request(`/api/v1/export/projects/${project.id}/bundle`, { key: person.key });
  expect([...(await unzip(await bundle.arrayBuffer())).keys()]).toContain("manifest.json");
});

test("if the API aborts a download, nginx aborts the client's connection too", async () => {
  const [project = { id: "" }] = heavy.projects;
  const url = `${edge.url}/api/v1/export/projects/${project.id}/runs`;
  using download = await beginDownload(url, { authorization: `Bearer ${heavy.person.key}` });
  const ended = await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where state = 'active' and query ilike 'copy %'`;
  expect(ended).toHaveLength(1);
  const { status, isWhole } = await download.readOn();
  expect([status, isWhole]).toEqual([200, false]);
});

test("both APIs behind nginx get requests and log the client's real address, not a forged X-Forwarded-For", async () => {
  const headers = { "x-forwarded-for": "203.0.113.9" };
  const ids: string[] = Array.from({ length: 40 }, () => crypto.randomUUID());
  const ask = (id: string) =>
    edge.request("/api/v1/models/providers", { headers: { ...headers, "x-request-id": id } });
  await Promise.all(ids.map(async (id) => (await ask(id)).arrayBuffer()));
  const linesOf = (api: ServiceProcess) =>
    api.logLines().filter((line) => ids.includes(String(line["requestId"])));
  // A response may arrive before the API has logged it.
  const lines = await waitFor(() => {
    const told = apis.map(linesOf);
    return told.flat().length === ids.length ? told : null;
  });
  expect(lines.map((list) => list.length > 0)).toEqual([true, true]);
  expect(new Set(lines.flat().map((line) => line["address"]))).toEqual(new Set([here]));
});

test("if a runner and an API lose the network, their peers take over, and the two work again once reconnected", async () => {
  const { person } = heavy;
  const [cutApi, otherApi] = apiHosts;
  await using held = await holdBuild([runners[0], cutApi]);
  const refused = askFromInside(cutApi, person);
  for (let request = 0; request < 20; request += 1) {
    expect((await edge.request("/api/v1/auth/me", { key: person.key })).status).toBe(200);
  }
  const ready = await untilReady(apiOf(otherApi), person, held.id);
  expect([ready.attempt, ready.progress.projectsDone]).toEqual([2, HEAVY_PROJECTS]);
  const { status, tookMs } = await refused;
  expect(status).toBe(503);
  expect(tookMs).toBeLessThan(NOTICED_MS);
  const countLost = async () => (await countSessions(runners[0])) + (await countSessions(cutApi));
  await waitFor(async () => (await countLost()) === 0);

  await held.reconnect();
  // Requests fail until the network has a route again.
  const askReady = async () => (await apiOf(cutApi).request("/health/ready")).status;
  await waitFor(async () => (await askReady().catch(() => null)) === 200);
  // Stops the other runner, so that only the runner that was cut off is left.
  held.other.kill("SIGTERM");
  await held.other.exited;
  const next = await jobOf(await postJob(edge, person, { as_of: HELD_AS_OF }));
  const built = await untilReady(edge, person, next.id);
  expect(built.attempt).toBe(1);
  expect(await getJob(apiOf(cutApi), person.key, held.id)).toEqual(ready);
  await expectOnce([ready, built]);
});

test("a runner that reconnects after its job was taken over does not change the job's result", async () => {
  const { person } = heavy;
  await using held = await holdBuild([runners[0]]);
  const ready = await untilReady(edge, person, held.id);
  expect(ready.attempt).toBe(2);
  await held.reconnect();
  // Either event may occur: on a slow machine, the other runner builds for so long that this runner's sessions have ended when it
  // reconnects.
  const ends = ["export_job.superseded", "export_job.attempt_failed"];
  await waitFor(() => held.runner.logLines().find(({ event }) => ends.includes(String(event))));
  expect(await getJob(edge, person.key, held.id)).toEqual(ready);
  await expectOnce([ready]);
});

/** Queues a job, blocks the first runner in the middle of its build, starts the second runner, and cuts off these hosts. */
async function holdBuild(hosts: readonly Host[]) {
  await using started = new AsyncDisposableStack();
  const { id } = await jobOf(await postJob(edge, heavy.person, { as_of: HELD_AS_OF }));
  const begun = await db.sql.begin(async (tx) => {
    await tx`lock table analysis_records in access exclusive mode`;
    const runner = started.use(await runners[0].start());
    await waitFor(async () => {
      const [held] = await db.sql`
        select 1 from pg_locks where relation = 'analysis_records'::regclass and not granted`;
      return held;
    });
    const other = started.use(await runners[1].start());
    await Promise.all(hosts.map((host) => host.cutOff()));
    return { runner, other };
  });
  const reconnect = () => Promise.all(hosts.map((host) => host.reconnect()));
  // Reconnects the hosts after a failed test, because the next test uses them.
  started.defer(async () => void (await reconnect()));
  const running = started.move();
  return { id, ...begun, reconnect, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Checks that each job became ready once, with one mail and one complete object, and that no other object exists. */
async function expectOnce(jobs: readonly ExportJob[]): Promise<void> {
  expect(await listMismatches({ db })).toEqual([]);
  for (const { id, artifact } of jobs) {
    expect(await sha256OfDownload(heavy.person, id)).toBe(artifact?.sha256 ?? "");
    const audited = await db.sql`
      select 1 from audit_log where action = 'export_job.ready' and subject_id = ${id}`;
    expect(audited).toHaveLength(1);
    const mails = () => mailServer.received.map(jobOfMail).filter((job) => job === id);
    await waitFor(() => mails().length > 0);
    expect(mails()).toHaveLength(1);
  }
  const [{ keys }] = await db.sql<[{ keys: string[] }]>`
    select array_agg('org/exports/' || artifact_key order by artifact_key) as keys
    from export_jobs
    where status = 'ready'`;
  const list = async () => {
    const objects = await s3.client.list({ prefix: "org/exports/" });
    const names = (objects.contents ?? []).map(({ key }) => key);
    return names.filter((name) => !name.endsWith(MARKER_NAME)).sort();
  };
  await waitFor(async () => (await list()).length === keys.length);
  expect(await list()).toEqual(keys);
}

/** Sends a request that needs the database from a host to its own API. */
async function askFromInside(host: LanHost, person: Person): Promise<{ status: number; tookMs: number }> {
  const begun = performance.now();
  const { stdout } = await runCommand([
    ...[...host.prefix, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "120"],
    ...["-H", `Authorization: Bearer ${person.key}`, `http://${host.address}:${PORT}/api/v1/auth/me`],
  ]);
  return { status: Number(stdout), tookMs: performance.now() - begun };
}
