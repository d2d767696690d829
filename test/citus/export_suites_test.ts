/** The export suites on a cluster, as they run on one server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { CitusCluster } from "../helpers/postgres/citus_cluster.ts";
import { TIMEOUT_MS } from "../run_tests.ts";

const cluster = new CitusCluster();
beforeAll(() => cluster.serve());
afterAll(() => cluster[Symbol.asyncDispose]());

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What they are about: values, order, filters, visibility, slices, increments, bundles, jobs, imports, sweeps. */
const SUITES = [
  "test/api/admin/import/command_test.ts",
  "test/api/exports/bundle_test.ts",
  "test/api/exports/dataset/values_test.ts",
  "test/api/exports/dataset/visibility_test.ts",
  "test/api/exports/deleted_test.ts",
  "test/api/exports/estimate_test.ts",
  "test/jobs/build_org_export_test.ts",
  "test/jobs/build_snapshots_test.ts",
  "test/jobs/delete_old_records_test.ts",
  "test/sql/exports/select_rows/increments_test.ts",
  "test/system/export_round_trip_test.ts",
];

test("the export suites pass on a cluster", async () => {
  const child = Bun.spawn(
    [process.execPath, "test", "--parallel=2", "--no-isolate", `--timeout=${TIMEOUT_MS}`, ...SUITES],
    {
      cwd: ROOT,
      stdout: "pipe",
      stderr: "pipe",
      env: process.env,
    },
  );
  const [said, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  const failed = said.split("\n").filter((line) => /^\(fail\)|^error:/.test(line));
  expect(failed).toEqual([]);
  expect(said).toContain(`across ${SUITES.length} files`);
  expect(exitCode).toBe(0);
});
