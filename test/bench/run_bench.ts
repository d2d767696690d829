/** Chooses a benchmark by name and gives it a server of its own. */
import type { Command } from "../../shared/stack/bootstrap.ts";
import { untilAborted } from "../../shared/stack/wait.ts";
import { openTestServer } from "../helpers/server.ts";

/** Name on the command line, and where the benchmark is. */
const BENCHES: Readonly<
  Record<string, () => Promise<(command: Command, serverUrl: string) => Promise<void>>>
> = {
  export: async () => (await import("./export_bench.ts")).benchExport,
  registry: async () => (await import("./registry_bench.ts")).benchRegistry,
};

/** Runs the benchmarks that are named, or all; returns the exit code. */
export async function runBench(command: Command): Promise<number> {
  const names = command.args.length > 0 ? command.args : Object.keys(BENCHES);
  for (const name of names) {
    const load = BENCHES[name];
    if (!load) {
      const known = Object.keys(BENCHES).join(", ");
      process.stderr.write(`Cannot run the benchmark "${name}": there are ${known}\n`);
      return 2;
    }
    await using server = await untilAborted(openTestServer(command), command.stop);
    const bench = await load();
    await untilAborted(bench(command, server.url), command.stop);
  }
  return 0;
}
