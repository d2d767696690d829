/** Entry point of `bun run start`. The script `prestart` in package.json has already installed the packages. */
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { bootstrap } from "./bootstrap.ts";
import { runStack } from "./start.ts";

const USAGE = `Usage: bun run start

Starts everything on this machine: PostgreSQL, the API, the job runner and the
sync of the model catalog. Installs the dependencies if they are missing,
applies migrations, and loads demo data into an empty database.
Ctrl-C stops everything.

Environment variables configure it; docs/configuration.md lists them.
The first ones to know:

  PORT          where the API listens; 3000 by default
  DATA_DIR      where the database, exports and logs are kept; .data by default
  DATABASE_URL  a PostgreSQL of your own, instead of the one in the packages
`;

requireNoArguments(process, USAGE);
process.exit(await bootstrap(process, runStack));
