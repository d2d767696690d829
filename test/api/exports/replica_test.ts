/** Exports that are read from a streaming replica, and what becomes of them when it is behind or away. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { openTestApp, type TestApp } from "../../helpers/app.ts";
import { AFTER_ALL, exportDataset, makeExportProject, ndjsonRows } from "../../helpers/export_project.ts";
import { openReplicatedServer, type ReplicatedServer } from "../../helpers/replicated_server.ts";
import { waitFor } from "../../helpers/wait_for.ts";

let server: ReplicatedServer;

beforeAll(async () => {
  server = await openReplicatedServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Snapshots that the app has opened so far. */
async function snapshotsOf(app: TestApp): Promise<{ primary: number; replica: number }> {
  const text = await app.deps.metrics.registry.getSingleMetricAsString("export_snapshots_total");
  const read = (database: string) =>
    Number(new RegExp(`^export_snapshots_total\\{database="${database}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  return { primary: read("primary"), replica: read("replica") };
}

test("an export is read from the replica, with what was committed a moment before", async () => {
  await using app = await openTestApp({ servers: server });
  const exported = await makeExportProject(app);
  const response = await exportDataset(app, exported, "runs");
  expect(response.status).toBe(200);
  const rows = await ndjsonRows(response);
  expect(rows.map(({ id }) => id)).toEqual([exported.ids["live run"]]);
  expect(await snapshotsOf(app)).toEqual({ primary: 0, replica: 1 });
});
