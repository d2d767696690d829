/**
 * A node that loses its network: connections stay open and no packets arrive, as when a switch fails. Needs root and `ip`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CITUS_BIN_DIRECTORY } from "../groups/groups.ts";
import { type ExportProject, exportDataset } from "../helpers/exports/export_project.ts";
import { makeLargeProject } from "../helpers/exports/large_project.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { CITUS_SETTINGS, serveTests } from "../helpers/postgres/citus_cluster.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { type LanAddress, openLan } from "../hosts/lan.ts";
import { startLanPostgres } from "../hosts/lan_postgres.ts";
import { makeProjectOnEach, workerOf } from "./projects.ts";

/** The contract's time limit for refusing an export whose node is unreachable, in milliseconds. */
const ANSWER_MS = 10_000;

const opened = new AsyncDisposableStack();
const urls: string[] = [];
const workers: LanAddress[] = [];

beforeAll(async () => {
  const lan = opened.use(await openLan());
  // The network has no carrier until a host is attached.
  await lan.addHost("other");
  workers.push(await lan.addAddress(51), await lan.addAddress(52));
  for (const address of [lan.address, ...workers.map((worker) => worker.address)]) {
    const options = {
      address,
      network: lan.network,
      settings: CITUS_SETTINGS,
      binDirectory: CITUS_BIN_DIRECTORY,
    };
    urls.push(opened.use(await startLanPostgres(options)).url);
  }
  opened.defer(serveTests(urls));
});
afterAll(() => opened.disposeAsync());

test("exports from an unreachable node are refused or aborted, and other nodes' exports are unaffected", async () => {
  await using app = await openTestApp();
  const statusOf = async (exported: Pick<ExportProject, "person" | "project">) => {
    const begun = performance.now();
    const { status } = await exportDataset(app, exported, "issues");
    return { status, isInTime: performance.now() - begun < ANSWER_MS };
  };
  const [first, second] = await makeProjectOnEach({ urls }, app);
  if (!first || !second) throw new Error("Cannot go on: there are not two projects");
  const large = await makeLargeProject(app, 25_000);
  const holder = await workerOf({ urls }, app, large.project.id);
  const [cut, other] = holder === 0 ? [first, second] : [second, first];
  expect((await statusOf(cut)).status).toBe(200);
  const reader = (await exportDataset(app, large, "issues")).body?.getReader();
  await reader?.read();
  await workers[holder]?.cutOff();
  try {
    const reading = (async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read());
      return "whole";
    })().catch(() => "broken");
    const found = await Promise.all([statusOf(cut), statusOf(other), reading]);
    expect(found).toEqual([{ status: 503, isInTime: true }, { status: 200, isInTime: true }, "broken"]);
  } finally {
    await workers[holder]?.reconnect();
  }
  await waitFor(async () => (await statusOf(cut)).status === 200);
  const whole = await exportDataset(app, large, "issues");
  expect((await whole.text()).split("\n").length).toBe(25_001);
});
