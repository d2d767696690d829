/** Entry point of `bun run bench NAME`. */
import { bootstrap } from "../../deploy/local/bootstrap.ts";
import { runBench } from "./run_bench.ts";

process.exit(await bootstrap(process, runBench));
