/**
 * Tests of other files on partitioned tables. `partition_tracker_tables_test.ts` shows that exports have the same bytes
 * and read one partition; these write rows, and look for those who do.
 */
import { test } from "bun:test";
import { runSuites } from "../../helpers/process/suites.ts";

const SUITES = {
  // An import finds rows by their keys and moves sequences. A partitioned table has other keys.
  "test/api/admin/import/command_test.ts": [
    "import keeps every value",
    "import keeps a seq",
    "import skips existing rows",
    "import refuses a row that exists",
  ],
  // A writer holds locks and rights of a partition, or of its table.
  "test/sql/exports/settle_as_of_test.ts": [
    "settleAsOf() is held back by a session of a role that may insert into a tracker table",
    "settleAsOf() is held back by a session of a role that may write a partition",
    "settleAsOf() is held back by a session that wrote before its role lost the right to",
    "settleAsOf() never settles while a prepared transaction has written tracker rows",
  ],
};

test("rows are imported into partitioned tables, and open writes to a partition hold back cutoffs", async () => {
  await runSuites(SUITES, { TEST_PARTITIONS: "1" });
});
