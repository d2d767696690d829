/**
 * Entry point of `bun run soak`. It may run before packages are installed, so it must not import packages statically.
 */
import { bootstrap } from "../../deploy/local/bootstrap.ts";

process.exit(await bootstrap(process, async (command) => (await import("./run_soak.ts")).runSoak(command)));
