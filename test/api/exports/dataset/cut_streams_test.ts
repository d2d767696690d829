/** Streams that the service ends while the reader is still connected. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { EXPORT_APPLICATION } from "../../../../sql/connection/application_names.ts";
import type { Pool } from "../../../../sql/connection/pool.ts";
import type { ExportProject } from "../../../helpers/exports/export_project.ts";
import { makeExportProject } from "../../../helpers/exports/export_project.ts";
import { addNoise } from "../../../helpers/exports/heavy_org.ts";
import { beginDownload } from "../../../helpers/exports/slow_download.ts";
import { openTestApp, type TestAppOptions } from "../../../helpers/http/app.ts";
import { type ListeningApp, openListeningApp } from "../../../helpers/http/listening_app.ts";
import { copyTestDatabase, openTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** The size of the runs in MiB. Their export exceeds the socket buffers on both sides. */
const MEBIBYTES = 16;
/** The paths that export the runs as NDJSON and as Parquet. */
const PATHS = ["runs", "runs?format=parquet"];

/** A database with two projects. Only `made` has large runs. Each test uses a copy of the database. */
let db: TestDatabase;
let made: ExportProject;
let other: ExportProject;

beforeAll(async () => {
  db = await openTestDatabase();
  await using app = await openTestApp({ database: { ...db, [Symbol.asyncDispose]: async () => {} } });
  [made, other] = [await makeExportProject(app), await makeExportProject(app)];
  await addNoise(db, made.project, MEBIBYTES);
});

afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

async function openServer(options: TestAppOptions): Promise<ListeningApp> {
  return openListeningApp({ ...options, database: await copyTestDatabase(db) });
}

function begin({ origin }: ListeningApp, { project }: ExportProject, credential: string, path = "runs") {
  return beginDownload(`${origin}/api/v1/export/projects/${project.id}/${path}`, {
    authorization: `Bearer ${credential}`,
  });
}

/** Waits until a stream is logged as cut, and expects its reason in the metrics. Returns each reason with its log level. */
async function cutReasons({ app, origin }: ListeningApp): Promise<unknown> {
  const lines = await waitFor(() => {
    const cut = app.logLines.filter((line) => line["outcome"] === "cut");
    return cut.length > 0 ? cut : null;
  });
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  for (const { reason } of lines) expect(metrics).toContain(`export_streams_cut_total{reason="${reason}"}`);
  return lines.map(({ reason, level }) => [reason, level]);
}

/** Waits until no export session is in a transaction, and expects that no export slot is in use. */
async function expectNothingHeld({ app, origin }: ListeningApp): Promise<void> {
  await waitFor(async () => {
    const [row] = await app.db.sql<[{ count: number }]>`
      select count(*) from pg_stat_activity
      where datname = current_database() and application_name = ${EXPORT_APPLICATION} and state <> 'idle'`;
    return row.count === 0;
  });
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  expect(metrics).toContain("\nexport_stream_slots_in_use 0\n");
}

/** Changes that end the caller's access to a running export. */
const LOSSES: Readonly<
  Record<string, (sql: Pool, made: ExportProject, ids: Record<string, string>) => Promise<unknown>>
> = {
  "the caller is removed from the organization": (sql, { person }) =>
    sql`delete from organization_members where org_id = ${person.org.id} and user_id = ${person.user.id}`,
  "the caller's key is revoked": (sql, { person }) =>
    sql`update api_keys set revoked_at = now() where id = ${person.keyId}`,
  "the caller's key expires": (sql, { person }) =>
    sql`update api_keys set expires_at = now() - interval '1 second' where id = ${person.keyId}`,
  "the caller signs out": (sql, _, { sessionId }) =>
    sql`update sessions set revoked_at = now() where id = ${sessionId ?? ""}`,
  "the caller's session expires": (sql, _, { sessionId }) =>
    sql`update sessions set expires_at = now() - interval '1 second' where id = ${sessionId ?? ""}`,
  "the caller is disabled": (sql, { person }) =>
    sql`update users set disabled_at = now() where id = ${person.user.id}`,
  "the caller is no longer a publisher": (sql, { person }) =>
    sql`update organization_members set role = 'viewer' where user_id = ${person.user.id} and org_id = ${person.org.id}`,
  "the organization stops paying": (sql, { person }) =>
    sql`update organizations set subscription_tier = 'free' where id = ${person.org.id}`,
  "the project is deleted": (sql, { project }) =>
    sql`update projects set deleted_at = now() where id = ${project.id}`,
};

for (const [loss, lose] of Object.entries(LOSSES)) {
  test(`a stream ends when ${loss}`, async () => {
    await using server = await openServer({ streamRules: { accessCheckMs: 100 } });
    const session = await server.app.make.session({ userId: made.person.user.id });
    const isSession = loss.includes("session") || loss.includes("signs out");
    const credential = isSession ? session.token : made.person.key;
    using download = await begin(server, made, credential, "bundle");
    await lose(server.app.db.sql, made, { sessionId: session.id });
    expect(await cutReasons(server)).toEqual([["access_ended", "info"]]);
    expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
    await expectNothingHeld(server);
  });
}

test("a stream continues while its caller keeps access, even while access cannot be checked", async () => {
  await using server = await openServer({ streamRules: { accessCheckMs: 20 } });
  using download = await begin(server, made, made.person.key);
  const { owner } = server.app.db;
  await owner`alter table api_keys rename to api_keys_away`;
  await waitFor(() => server.app.logLines.some((line) => line["event"] === "export.access_unknown"));
  await owner`alter table api_keys_away rename to api_keys`;
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: true });
});

for (const path of PATHS) {
  test(`a stalled reader of ${path} is cut off once another caller is refused, and that caller's retry succeeds`, async () => {
    await using server = await openServer({
      config: { exportStreamsMax: 1 },
      streamRules: { slowWindowMs: 300, socketBytes: 0 },
    });
    using download = await begin(server, made, made.person.key, path);
    await waitFor(async () => {
      const url = `${server.origin}/api/v1/export/projects/${other.project.id}/issues`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${other.person.key}` } });
      await response.text();
      return response.status === 200;
    });
    expect(await cutReasons(server)).toEqual([["reader_too_slow", "info"]]);
    expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
    await expectNothingHeld(server);
  });
}

for (const path of [...PATHS, "bundle"]) {
  test(`cutting off a stalled reader of ${path} leaves no data in the kernel`, async () => {
    await using server = await openServer({ config: { exportStreamMaxMinutes: 0.01 } });
    using download = await begin(server, made, made.person.key, path);
    await cutReasons(server);
    // Without a TCP reset, the kernel would keep megabytes for the closed connection until the client reads them.
    await waitFor(async () => !(await download.isHeld()));
    expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
  });
}

test("a stalled reader gets the whole file if no other caller is refused for lack of a slot", async () => {
  const slowWindowMs = 60;
  await using server = await openServer({ streamRules: { slowWindowMs, socketBytes: 0 } });
  using download = await begin(server, made, made.person.key);
  expect(await download.isHeld()).toBe(true);
  // Other exports keep running for ten times `slowWindowMs`.
  const until = performance.now() + 10 * slowWindowMs;
  while (performance.now() < until) {
    const url = `${server.origin}/api/v1/export/projects/${other.project.id}/issues`;
    await (await fetch(url, { headers: { authorization: `Bearer ${other.person.key}` } })).text();
  }
  expect(await download.readOn()).toMatchObject({ status: 200, isWhole: true });
});

for (const path of PATHS) {
  test(`a stream of ${path} ends after EXPORT_STREAM_MAX_MINUTES`, async () => {
    await using server = await openServer({ config: { exportStreamMaxMinutes: 0.01 } });
    using download = await begin(server, made, made.person.key, path);
    expect(await cutReasons(server)).toEqual([["lasted_too_long", "info"]]);
    expect(await download.readOn()).toMatchObject({ status: 200, isWhole: false });
    await expectNothingHeld(server);
  });
}
