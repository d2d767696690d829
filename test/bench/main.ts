/** Entry point of `bun run bench NAME`. Until packages are installed, it may import only Bun's own modules. */
import { bootstrap } from "../../deploy/local/bootstrap.ts";
import { runBench } from "./run_bench.ts";

process.exit(await bootstrap(process, runBench));
