/** Chooses a benchmark by name and gives it a server of its own. */
import { parseArgs } from "node:util";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { untilAborted } from "../../shared/stack/wait.ts";
import { openTestServer } from "../helpers/server.ts";

/** Name on the command line, and where the benchmark is. */
const BENCHES: Readonly<
  Record<string, () => Promise<(command: Command, serverUrl: string, sizes: BenchSizes) => Promise<void>>>
> = {
  export: async () => (await import("./export_bench.ts")).benchExport,
  http: async () => (await import("./http_bench.ts")).benchHttp,
  jobs: async () => (await import("./jobs_bench.ts")).benchJobs,
  models: async () => (await import("./models_bench.ts")).benchModels,
  registry: async () => (await import("./registry_bench.ts")).benchRegistry,
};

/** How large a benchmark of jobs is: smaller ones show in seconds whether something is badly wrong. */
export interface BenchSizes {
  rows: number;
  projects: number;
  rounds: number;
}

/** Runs the benchmarks that are named, or all; returns the exit code. */
export async function runBench(command: Command): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...command.args],
    allowPositionals: true,
    options: {
      rows: { type: "string", default: "1000000" },
      projects: { type: "string", default: "50" },
      rounds: { type: "string", default: "5" },
    },
  });
  const sizes = {
    rows: Number(values.rows),
    projects: Number(values.projects),
    rounds: Number(values.rounds),
  };
  const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
  for (const name of names) {
    const load = BENCHES[name];
    if (!load) {
      const known = Object.keys(BENCHES).join(", ");
      process.stderr.write(`Cannot run the benchmark "${name}": there are ${known}\n`);
      return 2;
    }
    await using server = await untilAborted(openTestServer(command), command.stop);
    const bench = await load();
    await untilAborted(bench(command, server.url, sizes), command.stop);
  }
  return 0;
}
