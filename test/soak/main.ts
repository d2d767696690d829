/** Entry point of `bun run soak`. Until packages are installed, it may import only Bun's own modules. */
import { bootstrap } from "../../deploy/local/bootstrap.ts";

process.exit(await bootstrap(process, async (command) => (await import("./run_soak.ts")).runSoak(command)));
