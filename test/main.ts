/** Entry point of `bun run test`. */
import { bootstrap } from "../deploy/local/bootstrap.ts";
import { runTests } from "./run_tests.ts";

process.exit(await bootstrap(process, runTests));
