/** Entry point of `bun run schema`: writes `sql/schema.sql` from the migrations. */

import { join } from "node:path";
import { bootstrap } from "../../deploy/local/bootstrap.ts";
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { openTestServer } from "../helpers/postgres/server.ts";

requireNoArguments(
  process,
  "Usage: bun run schema\n\nWrites the schema after all migrations to sql/schema.sql.\n",
);

process.exit(
  await bootstrap(process, async (command) => {
    await using server = await openTestServer(command);
    process.env["TEST_DATABASE_URL"] = server.url;
    const { openTestDatabase } = await import("../helpers/postgres/database.ts");
    const { describeSchema } = await import("./schema_snapshot.ts");
    await using db = await openTestDatabase();
    await Bun.write(join(command.root, "sql/schema.sql"), await describeSchema(db.sql));
    return 0;
  }),
);
