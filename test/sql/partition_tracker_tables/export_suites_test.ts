/** The export suites on partitioned tables. */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { TIMEOUT_MS } from "../../run_tests.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** They cover values, order, filters, visibility, counts, bundles, jobs, imports, watermarks. */
const SUITES = [
  "test/api/admin/import/command_test.ts",
  "test/api/exports/bundle_test.ts",
  "test/api/exports/dataset/values_test.ts",
  "test/api/exports/dataset/visibility_test.ts",
  "test/system/export_round_trip_test.ts",
  "test/sql/exports/settle_as_of_test.ts",
];

test("the export suites pass on partitioned tables", async () => {
  const child = Bun.spawn([process.execPath, "test", `--timeout=${TIMEOUT_MS}`, ...SUITES], {
    cwd: ROOT,
    env: { ...process.env, TEST_PARTITIONS: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  const failed = said.split("\n").filter((line) => /^\(fail\)|^error:/.test(line));
  expect(failed).toEqual([]);
  expect(said).toContain(`across ${SUITES.length} files`);
  expect(exitCode).toBe(0);
});
