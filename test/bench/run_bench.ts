/** `bun run bench`: runs benchmarks and updates RESULTS.md. */
import { loadavg } from "node:os";
import { type Command, elapsed } from "../../deploy/local/bootstrap.ts";
import { settlesWithin, untilAborted } from "../../shared/process/with_timeout.ts";
import { openTestServer } from "../helpers/postgres/server.ts";
import { type Bench, FULL_SIZES, QUICK_SIZES } from "./measure.ts";
import {
  type Choice,
  type Facts,
  RESULTS_PATH,
  readChoice,
  renderSection,
  requireSameMachine,
  USAGE,
  writeNotes,
  writeResults,
} from "./results.ts";

/** The time limit of a run. All benchmarks together take less than 25 minutes on two idle cores. */
const RUN_LIMIT_MS = 60 * 60_000;
/** The time that a benchmark gets to stop its processes. */
const GRACE_MS = 15_000;

/**
 * Runs benchmarks and returns the exit code: 1 if a benchmark failed, 2 for invalid arguments. Writes nothing if a
 * benchmark failed.
 */
export async function runBench(command: Command): Promise<number> {
  const choice = readChoice(command.args, Object.keys(SECTIONS));
  if (!choice.ok) {
    const names = Bun.wrapAnsi(Object.keys(SECTIONS).join(", "), 76).replaceAll("\n", "\n  ");
    const usage = `${USAGE}\nNames:\n  ${names}\n`;
    if (choice.problem === null) process.stdout.write(usage);
    else process.stderr.write(`${choice.problem}\n\n${usage}`);
    return choice.problem === null ? 0 : 2;
  }
  if (choice.notesOnly) await writeNotes(command.root);
  else if (!(await measure(command, choice))) return 1;
  if (choice.isWritten) process.stdout.write(`Written: ${RESULTS_PATH}\n`);
  return 0;
}

/** Runs the benchmarks, prints the results, and writes them on request. Returns false if a benchmark failed. */
async function measure(command: Command, { names, isQuick, isWritten }: Choice): Promise<boolean> {
  const signal = AbortSignal.any([command.stop, AbortSignal.timeout(RUN_LIMIT_MS)]);
  const loadBefore = currentLoad();
  // machine.ts is imported only when needed, because it imports a package, the database driver.
  const { describeCommit } = await import("./machine.ts");
  const commit = await describeCommit(command);
  const facts = isWritten ? await readFacts(command, signal) : {};
  // Fails now rather than after minutes of measuring.
  if (isWritten && names !== null) await requireSameMachine(command.root, facts);
  const order = Object.keys(SECTIONS);
  const measured = new Map<string, string>();
  const failed: string[] = [];
  for (const name of names ?? order.filter((each) => !SECTIONS[each]?.isOnRequest)) {
    const section = SECTIONS[name];
    if (!section) continue;
    try {
      const text = await runSection({ command, signal, isQuick, commit, loadBefore }, { name, section });
      process.stdout.write(`\n${text}\n\n`);
      measured.set(name, text);
    } catch (error) {
      signal.throwIfAborted();
      failed.push(name);
      process.stderr.write(`${name} failed: ${Bun.inspect(error)}\n`);
    }
  }
  if (failed.length > 0) process.stderr.write(`Failed: ${failed.join(", ")}; nothing is written\n`);
  else if (isWritten) await writeResults(command.root, { facts, measured, order });
  return failed.length === 0;
}

async function readFacts(command: Command, signal: AbortSignal): Promise<Facts> {
  // machine.ts is imported only when needed, because it imports a package, the database driver.
  const { describeMachine } = await import("./machine.ts");
  await using server = await untilAborted(openTestServer(command), signal);
  return await describeMachine(command, server.url);
}

/** Returns the load average of the last minute. */
function currentLoad(): number {
  const [lastMinute = Number.NaN] = loadavg();
  return lastMinute;
}

interface SectionRun {
  command: Command;
  signal: AbortSignal;
  isQuick: boolean;
  commit: string;
  loadBefore: number;
}

/** Runs one benchmark on its own server and returns its section. */
async function runSection(
  { command, signal, isQuick, commit, loadBefore }: SectionRun,
  { name, section }: { name: string; section: Section },
): Promise<string> {
  const { title, about, load } = section;
  const measuredAt = new Date();
  const startedAt = performance.now();
  process.stderr.write(`── ${name}: ${title}\n`);
  await using server = await untilAborted(openTestServer(command, { onDisk: true }), signal);
  const bench = await load();
  const sizes = isQuick ? QUICK_SIZES : FULL_SIZES;
  const ended = bench({ command, serverUrl: server.url, sizes, signal });
  try {
    const tables = await untilAborted(ended, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    return renderSection({ name, title, about, measuredAt, commit, seconds, loadBefore, tables });
  } finally {
    await settlesWithin(ended, GRACE_MS);
    process.stderr.write(`── ${name}: ${elapsed(startedAt)}\n`);
  }
}

export interface Section {
  title: string;
  /** Explains to readers what is compared. */
  about: string;
  load: () => Promise<Bench>;
  /** True if the benchmark runs only by name, because not every machine meets its requirements. */
  isOnRequest?: boolean;
}

/** The sections in the order of the document. */
const SECTIONS: Readonly<Record<string, Section>> = {
  export: {
    title: "one dataset of a project",
    about: `Downloads with curl. The limit is psql with the same SQL, writing to /dev/null. The usual way is a Fastify server
that looks up the key and the project, counts the rows, and writes every row of a cursor (pg-query-stream) with
\`JSON.stringify\` or fast-csv. A check ensures that both send the same bytes, except for quotes in CSV. × is the peer's
time divided by ours. CPU is the CPU time of the server's process, then of PostgreSQL. The last columns are our share of
the peer's CPU time. PostgREST is not compared: Debian has no package, and the npm package downloads the program from
elsewhere.`,
    load: async () => (await import("./export_bench.ts")).benchExport,
  },
  bundle: {
    title: "everything of a project in one ZIP",
    about: `The limit is psql with the same SQL, piped into \`zip -6\`. The usual way is archiver at level 6 on Fastify, fed
by pg-query-stream. We compress at level 2, which takes less time and makes slightly larger files; the tables show both
sizes.`,
    load: async () => (await import("./files_bench.ts")).benchBundle,
  },
  jobs: {
    title: "builds of whole organizations",
    about: `The job runner's builds, from their start to "ready", compared with psql and the same SQL piped into \`zip -6\`,
and with archiver as above, which writes its file without a queue, a manifest or digests.`,
    load: async () => (await import("./jobs_bench.ts")).benchJobs,
  },
  parquet: {
    title: "one dataset as Parquet",
    about: `Downloads with curl, compared with psql, which copies the same values in binary format to /dev/null. The event
loop's delay is measured in the API's process, as in \`hostile\`, while another client polls the API.`,
    load: async () => (await import("./files_bench.ts")).benchParquet,
  },
  increments: {
    title: "changes since the last export",
    about: `The tracker writes whole runs of its agents, as in production, into two databases: one with the triggers and
indexes that increments need, and one without them. An increment is compared with a full export of the same datasets, both
over HTTP with curl.`,
    load: async () => (await import("./increments_bench.ts")).benchIncrements,
  },
  http: {
    title: "requests for one row, with an API key",
    about: `The peer is Fastify with a compiled serializer and node-postgres on Node.js. It runs the same SQL with the same
parameters, recorded from the service, on ten connections, as the service does. The peer looks up the key for every
request, the service once a second. The peer does not validate, limit, measure or log requests. Another client commits 200
transactions a second.`,
    load: async () => (await import("./reads_bench.ts")).benchHttp,
  },
  models: {
    title: "reads of the model catalog",
    about: `The peer is the same. It queries the database for the page, its total and its aliases; the service serves the
catalog from memory. The last table measures the sync that fills the catalog.`,
    load: async () => (await import("./reads_bench.ts")).benchModels,
  },
  definitions: {
    title: "reads of the registry over HTTP",
    about: `The peer is the same, and another client commits 200 transactions a second. The peer runs the same statements
with the same parameters, recorded from the service, in the same transactions. It sends the same bytes with the same ETag,
because it forwards the JSON that PostgreSQL writes. It does not parse parameters, build SQL, limit, measure or log
requests. Each connection is a different client.`,
    load: async () => (await import("./reads_bench.ts")).benchDefinitions,
  },
  registry: {
    title: "pages of the registry in the database",
    about: `All queries of a page of 50 definitions, by kind of query and caller, and their growth with ten times as many
definitions. The times are those of PostgreSQL's process, with all data in memory. The client's times include two to five
round trips and the API's share.`,
    load: async () => (await import("./registry_bench.ts")).benchRegistry,
  },
  pages: {
    title: "pages for people",
    about: `Each page, compared with the API calls whose data it shows, sent one after the other over HTTP. The data is the
demo with the bundled catalog. The ratio is the page's time per request divided by the time of its calls: the page adds
rendering and saves HTTP requests. Bytes are uncompressed.`,
    load: async () => (await import("./pages_bench.ts")).benchPages,
  },
  growth: {
    title: "costs at ten times the size",
    about: `The cost per unit with ten times as many projects, definitions or clients. The two sizes are measured in turn.
\`export\` and \`jobs\` measure ten times as many rows.`,
    load: async () => (await import("./growth_bench.ts")).benchGrowth,
  },
  documents: {
    title: "hostile and awkward documents",
    about: `Milliseconds of CPU time in a separate process, the best of twenty runs, for YAML that is hard to parse and texts
that are hard to render or search. Tests check the bounds of the work; this benchmark measures how long the work takes.`,
    load: async () => (await import("./documents_bench.ts")).benchDocuments,
  },
  hostile: {
    title: "hostile bodies, large responses, lost connections",
    about: `\`monitorEventLoopDelay\` measures the event loop's delay in the API's process. The figure is that of the best
round, because other processes can only increase the delay. The next column is the maximum CPU time of the loop's thread
between two ticks of 5 ms.`,
    load: async () => (await import("./hostile_bench.ts")).benchHostile,
  },
  citus: {
    title: "tracker tables on several machines",
    about: `A Citus cluster of a coordinator and eight nodes, all on this machine. It shows the work of each server, not the
speed of the cluster. "One server" is the coordinator before the tables are distributed. The benchmark runs only by name,
because Citus must be installed for PostgreSQL 15.`,
    load: async () => (await import("./citus_bench.ts")).benchCitus,
    isOnRequest: true,
  },
  memory: {
    title: "processes when idle and at their peak",
    about: "Resident memory of each process, and its peak (VmHWM) during the work of each line.",
    load: async () => (await import("./memory_bench.ts")).benchMemory,
  },
};
