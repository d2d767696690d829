import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { largeAgentYaml } from "../helpers/definitions/large_documents.ts";
import { FOREIGN_SCHEMA, moveToForeignTracker } from "../helpers/exports/foreign_tracker.ts";
import { addNoise } from "../helpers/exports/heavy_org.ts";
import { beginDownload } from "../helpers/exports/slow_download.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory, type Factory } from "../helpers/postgres/factory.ts";
import { listWaiting } from "../helpers/postgres/waiting_sessions.ts";
import { spawnApi, startApi } from "../helpers/process/api_process.ts";
import { untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";

/** The database that tests share unless they change its roles or tables. */
let shared: TestDatabase;
let make: Factory;
beforeAll(async () => {
  shared = await openTestDatabase();
  make = createFactory(shared.sql);
});
afterAll(() => shared[Symbol.asyncDispose]());

/** Whether the process has stopped accepting connections. */
async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const connection = Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
  const socket = await connection.catch(() => null);
  socket?.end();
  return socket === null;
}

test("a database that hides other sessions is reported in a warning at startup and by the readiness check", async () => {
  await using db = await openTestDatabase();
  const role = `blind_${crypto.randomUUID().slice(0, 8)}`;
  await db.admin.unsafe(`
    create role ${role} login password 'blind';
    grant usage on schema pgboss to ${role};
    grant select, insert, update, delete on all tables in schema public, pgboss to ${role}`);
  const url = new URL(db.url);
  [url.username, url.password] = [role, "blind"];
  {
    // The default directory may contain another test's artifact store.
    const dataDir = join(tmpdir(), role);
    await using api = await startApi({ DATABASE_URL: url.href, DATA_DIR: dataDir });
    const line = await untilLogged(
      api,
      "the database hides other sessions from this service: exports fail while other roles are connected",
    );
    expect(line).toMatchObject({
      event: "export.watermark_blind",
      level: "warn",
      hint: `grant pg_read_all_stats to "${role}"`,
    });
    const ready = async () => (await fetch(`${api.url}/health/ready`)).json();
    expect(await ready()).toEqual({ data: { status: "ready", watermark: "blind" } });
    await db.admin.unsafe(`grant pg_read_all_stats to ${role}`);
    await waitFor(async () => Bun.deepEquals(await ready(), { data: { status: "ready" } }));
  }
  await db.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
});

describe("the API process refuses to start and prints one line per problem", () => {
  async function refusal(env: Readonly<Record<string, string>>): Promise<[number, string]> {
    await using api = spawnApi(env);
    return [await api.exited, api.problems()];
  }

  test("with invalid variables, and reports them together", async () => {
    const [code, stderr] = await refusal({
      PORT: "http",
      DATABASE_POOL_MAX: "0",
      DATABASE_URL: "postgres://h/d",
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").sort()).toEqual([
      expect.stringMatching(/^DATABASE_POOL_MAX: must be /),
      expect.stringMatching(/^PORT: must be /),
    ]);
  });

  test("on a database with pending migrations, and names the command that runs them", async () => {
    await using db = await openTestDatabase();
    await db.owner`delete from schema_migrations where name = (select max(name) from schema_migrations)`;
    expect(await refusal({ DATABASE_URL: db.url })).toEqual([
      1,
      expect.stringMatching(
        /^Cannot start: the database lacks 1 migration, from "\d{14}_\w+" on; run `bun run migrate` first\n$/,
      ),
    ]);
  });

  test("when TRACKER_SCHEMA lacks a tracker table", async () => {
    await using db = await openTestDatabase();
    await moveToForeignTracker(db.owner);
    await db.owner.unsafe(`drop view ${FOREIGN_SCHEMA}.runs`);
    expect(await refusal({ DATABASE_URL: db.url, TRACKER_SCHEMA: FOREIGN_SCHEMA })).toEqual([
      1,
      `Cannot start: TRACKER_SCHEMA: ${FOREIGN_SCHEMA}.runs: missing; exports cannot read this dataset\n`,
    ]);
  });

  test("without a database, and does not print the password", async () => {
    const [code, stderr] = await refusal({ DATABASE_URL: "postgres://app:pass-word@127.0.0.1:1/none" });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot reach the database: [^\n]+\n$/)]);
    expect(stderr).not.toContain("pass-word");
  });

  test("on a port that is in use, and names the port", async () => {
    await using first = await startApi({ DATABASE_URL: shared.url });
    const { port } = new URL(first.url);
    expect(await refusal({ DATABASE_URL: shared.url, PORT: port })).toEqual([
      1,
      `Cannot listen on 127.0.0.1:${port}: the port is taken\n`,
    ]);
  });
});

/** Locks the table of API keys, so that every request with a key waits in its first query. */
async function lockKeys({ sql }: TestDatabase) {
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`lock table api_keys in access exclusive mode`;
  return {
    /** Waits until a request waits for the lock. */
    untilMet: () => waitFor(async () => (await listWaiting(sql, "api_keys")).length > 0),
    async release() {
      await connection`commit`;
      connection.release();
    },
  };
}

describe("the API process exits", () => {
  test("immediately if no request is running, even with idle connections", async () => {
    await using api = await startApi({ DATABASE_URL: shared.url });
    expect((await fetch(`${api.url}/api/v1/models/providers`)).status).toBe(200);
    const metrics = await (await fetch(`${api.url}/metrics`)).text();
    // The metrics of a process show its resource use, but not the software it runs on.
    expect(metrics).toContain("process_resident_memory_bytes ");
    expect(metrics).not.toMatch(/node|bun|elysia/i);
    api.kill("SIGTERM");
    expect(await api.exited).toBe(0);
    expect(api.logLines().map((line) => line["message"])).toEqual([
      "listening",
      "request",
      "stopping",
      "stopped",
    ]);
    expect(api.output.stderr).toBe("");
  });

  test("after the request that was running at SIGINT, and accepts no new request", async () => {
    const { key } = await make.person();
    await using api = await startApi({ DATABASE_URL: shared.url });
    const ask = () =>
      fetch(`${api.url}/api/v1/export/datasets`, { headers: { authorization: `Bearer ${key}` } });
    const lock = await lockKeys(shared);
    const running = ask();
    await lock.untilMet();
    api.kill("SIGINT");
    await waitFor(() => isRefused(api.url));
    await lock.release();
    expect((await running).status).toBe(200);
    expect(await api.exited).toBe(0);
  });

  test("on a second signal, without waiting for requests", async () => {
    const { key } = await make.person();
    await using api = await startApi({ DATABASE_URL: shared.url });
    const lock = await lockKeys(shared);
    const running = fetch(`${api.url}/api/v1/export/datasets`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch((error: unknown) => error);
    await lock.untilMet();
    api.kill("SIGTERM");
    await untilLogged(api, "stopping");
    api.kill("SIGTERM");
    expect(await api.exited).toBe(1);
    expect(await running).toBeInstanceOf(Error);
    await lock.release();
  });
});

describe("on SIGTERM, the API process", () => {
  test("finishes reading a large document and responds", async () => {
    const { user, key } = await make.person();
    await using api = await startApi({ DATABASE_URL: shared.url });
    const yaml = largeAgentYaml("large");
    const running = api.request("/api/v1/definitions/agent/large", { method: "POST", key, body: { yaml } });
    // Waits until the request is authenticated. At that point, the API is still reading the document, which takes far
    // longer than authentication.
    await waitFor(async () => {
      const [row] = await shared.sql`
        select 1 from api_keys where user_id = ${user.id} and last_used_at is not null`;
      return row !== undefined;
    });
    api.kill("SIGTERM");
    expect((await running).status).toBe(201);
    expect(await api.exited).toBe(0);
  });

  test("sends a running export in full", async () => {
    const { org, user, key } = await make.person();
    const project = await make.project({ orgId: org.id, ownerId: user.id });
    await addNoise(shared, project, 16);
    await using api = await startApi({ DATABASE_URL: shared.url });
    const url = `${api.url}/api/v1/export/projects/${project.id}/runs`;
    using download = await beginDownload(url, { authorization: `Bearer ${key}` });
    api.kill("SIGTERM");
    await untilLogged(api, "stopping");
    const { status, headers, body, isWhole } = await download.readOn();
    expect([status, headers.get("x-export-total-rows"), isWhole]).toEqual([200, "64", true]);
    expect(body.length).toBeGreaterThan(16 * 2 ** 20);
    expect(await api.exited).toBe(0);
    expect(api.logLines().find((line) => line["route"])).toMatchObject({
      status: 200,
      outcome: "complete",
    });
  });
});
