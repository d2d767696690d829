/** Sessions of the coordinator that are older than its registration in the cluster. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPool } from "../../sql/connection/pool.ts";
import { migrate } from "../../sql/migrate.ts";
import { runCommand } from "../helpers/accounts/admin.ts";
import { CitusCluster, inDatabase } from "../helpers/postgres/citus_cluster.ts";

/** Three servers, which share the processors with those of other files. */

const cluster = new CitusCluster();
beforeAll(() => cluster.start());
afterAll(() => cluster[Symbol.asyncDispose]());

test("a session that was open before the coordinator was registered is asked to reconnect", async () => {
  const [coordinator, ...workers] = cluster.urls.map((url) => new URL("/early", url));
  if (!coordinator) throw new Error("Cannot go on: there is no coordinator");
  for (const url of cluster.urls) {
    await inDatabase(url, "postgres", (sql) => sql`create database early`);
    await inDatabase(url, "early", (sql) => sql`create extension citus`);
  }
  const early = openPool(coordinator.href, { applicationName: "tracker", max: 1 });
  await early`select`;
  await inDatabase(coordinator.href, "early", async (sql) => {
    await sql`select citus_set_coordinator_host(${coordinator.hostname}, ${Number(coordinator.port)})`;
    for (const { hostname, port } of workers) await sql`select citus_add_node(${hostname}, ${Number(port)})`;
  });
  const late = openPool(coordinator.href, { applicationName: "tracker", max: 1 });
  await migrate(late);
  expect(await runCommand(coordinator.href, ["tracker", "distribute"])).toMatchObject({ exitCode: 0 });
  const insert = (number: number) => `
    insert into runs (project_id, run_number, workflow_type, "timestamp")
    values ('00000000-0000-4000-8000-000000000000', ${number}, 'test', now())`;
  await expect(Promise.resolve(early.unsafe(insert(1)))).rejects.toMatchObject({
    message:
      "Cannot write tracker rows in this session: the coordinator was not registered when it was opened",
    hint: "Connect again. If that does not help, call citus_set_coordinator_host() on the coordinator first.",
  });
  await late.unsafe(insert(2));
  expect([...(await late`select run_number from runs`)]).toEqual([{ runNumber: 2 }]);
  await Promise.all([early.end({ timeout: 1 }), late.end({ timeout: 1 })]);
});
