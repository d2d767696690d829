/**
 * Runs tests of other files on partitioned tables. These tests write rows, and find transactions that write them.
 * `partition_tracker_tables_test.ts` tests that exports keep their bytes and read one partition.
 */
import { test } from "bun:test";
import { runSuites } from "../../helpers/process/suites.ts";

const SUITES = {
  // An import finds rows by their keys and advances sequences. A partitioned table has other keys.
  "test/api/admin/import/command_test.ts": [
    "import keeps every value",
    "import keeps a seq",
    "import skips existing rows",
    "import refuses a row that exists",
  ],
  // A writer may have locks and privileges on a partition or on its table.
  "test/sql/exports/settle_as_of_test.ts": [
    "settleAsOf() is held back by a session of a role that may insert into a tracker table",
    "settleAsOf() is held back by a session of a role that may write a partition",
    "settleAsOf() is held back by a session that wrote before its role lost the right to",
    "settleAsOf() never settles while a prepared transaction has written tracker rows",
  ],
};

test("imports rows into partitioned tables, and holds back cutoffs during open writes to a partition", async () => {
  await runSuites(SUITES, { TEST_PARTITIONS: "1" });
});
