/** `bun run bench`: runs the named benchmarks, or all, and writes RESULTS.md. */
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
  // Throws now rather than after minutes of measuring.
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
  /** Describes the comparison to readers of the figures. */
  about: string;
  load: () => Promise<Bench>;
  /** True if the benchmark runs only by name, because not every machine meets its requirements. */
  isOnRequest?: boolean;
}

/** The sections in the order of the document. */
const SECTIONS: Readonly<Record<string, Section>> = {
  export: {
    title: "one dataset of a project",
    about: `Downloads by curl. The limit is psql with the same SQL, which writes to /dev/null. The usual way is a server on Fastify
that looks the key and the project up, counts, and writes every row of a cursor (pg-query-stream) with \`JSON.stringify\` or
fast-csv; it sends the same bytes but for quotes in CSV, which is checked. × is how many times as fast as that we are; CPU is that of the
server's process, then of PostgreSQL, and the last columns are our share of the peer's. PostgREST is not compared: Debian
has no package, and npm's fetches the program from elsewhere.`,
    load: async () => (await import("./export_bench.ts")).benchExport,
  },
  bundle: {
    title: "everything of a project in one ZIP",
    about: `The limit is psql with the same SQL, piped into \`zip -6\`. The usual way is archiver at level 6 fed by pg-query-stream, on
Fastify. We compress at level 2, which gives somewhat larger files for less time: the sizes stand beside.`,
    load: async () => (await import("./files_bench.ts")).benchBundle,
  },
  jobs: {
    title: "builds of whole organizations",
    about: `The job runner's builds, from their beginning to "ready", against psql with the same SQL piped into \`zip -6\`, and against
archiver as above, which writes its file without a queue, a manifest or digests.`,
    load: async () => (await import("./jobs_bench.ts")).benchJobs,
  },
  parquet: {
    title: "one dataset as Parquet",
    about: `Downloads by curl, against psql that copies the same values in binary to /dev/null. The event loop is measured in the
API's process, as in \`hostile\`, while another client polls it.`,
    load: async () => (await import("./files_bench.ts")).benchParquet,
  },
  increments: {
    title: "what has changed since the last export",
    about: `The tracker writes whole runs of its agents, as in production, into two databases: with the triggers and indexes that
increments need, and without. An increment is compared with the full export of the same datasets, both over HTTP by curl.`,
    load: async () => (await import("./increments_bench.ts")).benchIncrements,
  },
  http: {
    title: "one row, with a key",
    about: `Against Fastify with a compiled serializer and node-postgres on Node.js. It runs the same SQL with the same parameters,
recorded from the service, on ten connections like it; it looks the key up for every request, the service once a second, and
it does not check, limit, measure or log requests. Another client commits 200 transactions a second.`,
    load: async () => (await import("./reads_bench.ts")).benchHttp,
  },
  models: {
    title: "reads of the model catalog",
    about:
      "The same peer, which asks the database for the page, its total and its aliases, as the service serves the catalog from memory; and the sync that fills the catalog.",
    load: async () => (await import("./reads_bench.ts")).benchModels,
  },
  definitions: {
    title: "reads of the registry over HTTP",
    about: `The same peer, beside 200 commits a second. It runs the same statements with the same parameters, recorded from the
service, in the same transactions, and sends the same bytes with the same ETag: JSON that PostgreSQL has written, passed on. It
does not read parameters, make SQL, limit, measure or log requests. Each connection is another client.`,
    load: async () => (await import("./reads_bench.ts")).benchDefinitions,
  },
  registry: {
    title: "pages of the registry in the database",
    about: `A page of 50 definitions, all of its queries together, by kind of query and caller, and how that grows tenfold.
The times are those of the server's process; everything is in its memory. The client's have two to five ways there and
back in them, and the API's share.`,
    load: async () => (await import("./registry_bench.ts")).benchRegistry,
  },
  pages: {
    title: "pages for people",
    about: `Each page, and the API calls that it shows, one after the other over HTTP, on the demo with the bundled catalog. The
ratio is the page's time per request over that of its calls together: what the page adds is rendering, what it saves is
HTTP. Bytes are uncompressed.`,
    load: async () => (await import("./pages_bench.ts")).benchPages,
  },
  growth: {
    title: "ten times as many",
    about: `What a unit costs when there are ten times as many projects, definitions or clients; the two sizes are measured in turn.
Ten times the rows are in \`export\` and \`jobs\`.`,
    load: async () => (await import("./growth_bench.ts")).benchGrowth,
  },
  documents: {
    title: "one document, however it is written",
    about: `Milliseconds of CPU in a process of its own, the best of twenty runs: YAML that parsers choke on, texts that are awkward
to render or to search. Tests hold what bounds the work; this is how long the work takes.`,
    load: async () => (await import("./documents_bench.ts")).benchDocuments,
  },
  hostile: {
    title: "hostile bodies, large answers, readers who leave",
    about: `The event loop's delay is that of \`monitorEventLoopDelay\` in the API's process, in the best of the rounds, as other
processes only ever add to it; beside it the most CPU time that the loop's thread took between two ticks of 5 ms.`,
    load: async () => (await import("./hostile_bench.ts")).benchHostile,
  },
  citus: {
    title: "tracker tables over several machines",
    about: `A Citus cluster of a coordinator and eight nodes, all on this machine: what each of them does, not how fast they are
together. One server is the coordinator before the tables are distributed. Runs only when it is named: Citus has to be
installed for PostgreSQL 15.`,
    load: async () => (await import("./citus_bench.ts")).benchCitus,
    isOnRequest: true,
  },
  memory: {
    title: "processes at rest and at their peak",
    about:
      "Resident memory of each process, and the most it has held (VmHWM) while it did what the line says.",
    load: async () => (await import("./memory_bench.ts")).benchMemory,
  },
};
