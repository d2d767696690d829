/** Upgrades and downgrades two APIs under load behind the shipped nginx.conf and pgbouncer.ini. Clients see no failure. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { chooseFreePort } from "../../deploy/local/machine.ts";
import { agentYaml, ask, createAgent, publishAgent, write } from "../helpers/definitions/definitions.ts";
import type { Client } from "../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject } from "../helpers/exports/export_project.ts";
import { testRequest } from "../helpers/http/app.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { runCommand } from "../helpers/process/command.ts";
import {
  type Installation,
  type ServiceProcess,
  spawnService,
  untilLogged,
} from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { makeNewerRelease } from "./newer_release.ts";
import { startNginx } from "./nginx.ts";
import { type PgBouncer, startPgBouncer } from "./pgbouncer.ts";

/** The log line of the older release on the newer schema. */
const NEWER = { level: "warn", event: "schema.newer" };

/** The name of a kind of request, and the function that sends its nth request. */
type Load = readonly [name: string, send: (n: number) => Promise<Response>];

/** Returns the requests of a client that reads, exports and writes continuously. */
async function prepareLoads(db: TestDatabase, client: Client): Promise<Load[]> {
  const make = createFactory(db.sql);
  const { person, project } = await makeExportProject({ make });
  const { key } = await make.key({ userId: (await make.user({ platformRole: "admin" })).id });
  await publishAgent(client, person, { name: "steady" });
  await createAgent(client, person, { name: "edited" });
  const path = `/agent/@${person.org.slug}/steady`;
  return [
    ["models", () => client.request("/api/v1/models?limit=5")],
    ["definition", () => ask(client, path, person)],
    [
      "batch",
      () =>
        client.request("/api/v1/users/batch", {
          method: "POST",
          key: person.key,
          body: { ids: [person.user.id] },
        }),
    ],
    ["export", () => exportDataset(client, { person, project }, "issues", "?format=csv")],
    ["bundle", () => exportDataset(client, { person, project }, "bundle")],
    ["create", (n) => write(client, `/agent/made-${n}`, person, { body: { yaml: agentYaml(`made-${n}`) } })],
    ["record", () => write(client, `${path}/executions`, { key }, { body: { source: "load" } })],
    [
      "edit",
      (n) =>
        ask(client, "/agent/edited@1.0.0", person, {
          method: "PUT",
          body: { yaml: agentYaml("edited", "1.0.0", { displayName: `Reviewer ${n}` }) },
        }),
    ],
  ];
}

/** Sends every kind of request continuously until `signal` is aborted. Counts successes by kind and collects failures. */
async function runLoads(loads: readonly Load[], signal: AbortSignal) {
  const successes = new Map<string, number>(loads.map(([name]) => [name, 0]));
  const failures: string[] = [];
  const repeat = async ([name, send]: Load) => {
    for (let n = 1; !signal.aborted; n += 1) {
      try {
        const response = await send(n);
        const text = await response.text();
        if (response.ok) successes.set(name, (successes.get(name) ?? 0) + 1);
        else failures.push(`${name}: ${response.status} ${text.slice(0, 300)}`);
      } catch (error) {
        failures.push(`${name}: ${error}`);
      }
    }
  };
  await Promise.all(loads.map(repeat));
  return { successes, failures };
}

/** Counts the clients' writes in the database. */
async function countWrites({ sql }: TestDatabase) {
  const [row] = await sql<[{ created: number; recorded: number }]>`
    select
      (select count(*) from definitions where name like 'made-%') as created,
      (select count(*) from definition_executions) as recorded`;
  return row;
}

function environment(db: TestDatabase, pooler: PgBouncer): Record<string, string> {
  return {
    DATABASE_URL: pooler.url,
    DATABASE_DIRECT_URL: db.url,
    TRUST_PROXY: "true",
    SHUTDOWN_DELAY_SECONDS: "1",
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000",
    RATE_LIMIT_USER_PER_MINUTE: "1000000",
  };
}

/** Adds a column to tables that every kind of request reads, as upgrades do. */
const MIGRATION = `
  alter table api_keys add column release_note text;
  alter table definitions add column release_note text;
  alter table issues add column release_note text;`;

/** Starts an API of a release, by default this one, and waits until it is ready. */
async function startReadyApi(
  env: Readonly<Record<string, string>>,
  release?: Installation,
): Promise<ServiceProcess> {
  const api = spawnService("api", env, [], release);
  await untilLogged(api, "listening");
  await waitFor(async () => (await fetch(`http://127.0.0.1:${env["PORT"]}/health/ready`)).ok);
  return api;
}

async function migrate(db: TestDatabase, { bun, root }: Installation): Promise<void> {
  const command = [bun, join(root, "api/admin/main.ts"), "migrate"];
  const { exitCode, stderr } = await runCommand(command, { env: { DATABASE_URL: db.ownerUrl } });
  if (exitCode !== 0) throw new Error(`Cannot migrate: ${stderr}`);
}

test("no request fails and no write is repeated while two APIs behind PgBouncer are upgraded and downgraded", async () => {
  await using db = await openTestDatabase();
  await using pooler = await startPgBouncer(db.url);
  await using newer = await makeNewerRelease(MIGRATION);
  await using running = new AsyncDisposableStack();
  const ports = [chooseFreePort("127.0.0.1"), chooseFreePort("127.0.0.1")] as const;
  const start = async (port: number, release?: Installation) =>
    running.use(await startReadyApi({ ...environment(db, pooler), PORT: String(port) }, release));
  const apis = await Promise.all(ports.map((port) => start(port)));
  await using nginx = await startNginx({ address: "127.0.0.1", prefix: [] }, [
    `127.0.0.1:${ports[0]}`,
    `127.0.0.1:${ports[1]}`,
  ]);
  const client: Client = {
    request: (path, options) => fetch(testRequest(`${nginx.url}${path}`, options)),
  };
  const loads = await prepareLoads(db, client);
  const stop = new AbortController();
  const load = runLoads(loads, stop.signal);
  await migrate(db, newer);
  for (const release of [newer, undefined]) {
    for (const [index, port] of ports.entries()) {
      apis[index]?.kill("SIGTERM");
      expect(await apis[index]?.exited).toBe(0);
      apis[index] = await start(port, release);
    }
  }
  stop.abort();
  const { successes, failures } = await load;
  expect(failures).toEqual([]);
  expect(Math.min(...successes.values())).toBeGreaterThan(0);
  expect(await countWrites(db)).toEqual({
    created: successes.get("create") ?? 0,
    recorded: successes.get("record") ?? 0,
  });
  for (const api of apis) expect(api.logLines()).toContainEqual(expect.objectContaining(NEWER));
});
