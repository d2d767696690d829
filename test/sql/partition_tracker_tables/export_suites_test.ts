/**
 * Runs tests of other files on partitioned tables: imports of rows, and the search for transactions that may write rows.
 * `partition_tracker_tables_test.ts` tests that exports keep their bytes and read one partition.
 */
import { test } from "bun:test";
import { runSuites } from "../../helpers/process/suites.ts";

const SUITES = {
  // An import refers to primary keys by name and advances a sequence. Partitioning recreates the keys and reassigns the sequence.
  "test/api/admin/import/command_test.ts": [
    "import keeps every value",
    "import keeps a seq",
    "import skips existing rows",
    "import refuses a row that exists",
  ],
  // A writer may hold locks and privileges on a partition instead of on the partitioned table.
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
