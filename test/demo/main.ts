/** Entry point of `bun run demo`: writes the demo's bundle, and a small one for tests. */

import { join } from "node:path";
import { bootstrap } from "../../deploy/local/bootstrap.ts";
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { openTestServer } from "../helpers/postgres/server.ts";

requireNoArguments(
  process,
  "Usage: bun run demo\n\nMakes the demo's data, and writes the bundles that `admin demo seed` and tests load.\n",
);

process.exit(
  await bootstrap(process, async (command) => {
    await using server = await openTestServer(command);
    process.env["TEST_DATABASE_URL"] = server.url;
    const { openTestDatabase } = await import("../helpers/postgres/database.ts");
    const { makeDemoBundle } = await import("./make_bundle.ts");
    const { DEMO_FILE } = await import("../../api/admin/demo/demo_bundle.ts");
    const bundles = { [DEMO_FILE]: 1, [join(command.root, "test/fixtures/small_demo.zip")]: 0.01 };
    for (const [path, scale] of Object.entries(bundles)) {
      await using db = await openTestDatabase();
      await makeDemoBundle(db.sql, { path, scale });
    }
    return 0;
  }),
);
