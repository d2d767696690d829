/** Two APIs behind the shipped nginx.conf restart in turn under load. Clients notice nothing. */
import { expect, test } from "bun:test";
import { chooseFreePort } from "../../deploy/local/ports.ts";
import { agentYaml, ask, createAgent, publishAgent, write } from "../helpers/definitions/definitions.ts";
import type { Client } from "../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject } from "../helpers/exports/export_project.ts";
import { testRequest } from "../helpers/http/app.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { type ApiProcess, startApi } from "../helpers/process/api_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { startNginx } from "./nginx.ts";

const ROUNDS = 2;
const TIMEOUT_MS = 60_000;

/** A kind of request that a client repeats: its name and how it is sent the nth time. */
type Load = readonly [name: string, send: (n: number) => Promise<Response>];

/** The requests of a client that reads, exports and writes all the time. */
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

/** Sends every kind of request without pause until `signal`. Counts successes by kind; keeps what failed. */
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

/** What the database holds of what the clients wrote. */
async function countWrites({ sql }: TestDatabase) {
  const [row] = await sql<[{ created: number; recorded: number }]>`
    select
      (select count(*) from definitions where name like 'made-%') as created,
      (select count(*) from definition_executions) as recorded`;
  return row;
}

test(
  "no request fails and no write is repeated while two APIs restart in turn",
  async () => {
    await using db = await openTestDatabase();
    const start = (port: number): Promise<ApiProcess> =>
      startApi({
        DATABASE_URL: db.url,
        PORT: String(port),
        TRUST_PROXY: "true",
        SHUTDOWN_DELAY_SECONDS: "1",
        RATE_LIMIT_ANONYMOUS_PER_MINUTE: "1000000",
        RATE_LIMIT_USER_PER_MINUTE: "1000000",
      });
    const ports = [await chooseFreePort("127.0.0.1"), await chooseFreePort("127.0.0.1")] as const;
    await using running = new AsyncDisposableStack();
    const apis = await Promise.all(ports.map(start));
    for (const api of apis) running.use(api);
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
    for (let turn = 0; turn < ROUNDS * apis.length; turn += 1) {
      const index = turn % apis.length;
      const [old, port] = [apis[index], ports[index]];
      if (!old || !port) throw new Error(`Cannot restart API ${index}: there are two`);
      old.kill("SIGTERM");
      expect(await old.exited).toBe(0);
      const api = running.use(await start(port));
      await waitFor(async () => (await api.request("/health/ready")).status === 200);
      apis[index] = api;
    }
    stop.abort();
    const { successes, failures } = await load;
    expect(failures).toEqual([]);
    expect(Math.min(...successes.values())).toBeGreaterThan(0);
    expect(await countWrites(db)).toEqual({
      created: successes.get("create") ?? 0,
      recorded: successes.get("record") ?? 0,
    });
  },
  TIMEOUT_MS,
);
