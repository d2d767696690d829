/** The sections of RESULTS.md: the benchmarks by the name they have on the command line. */
import type { Bench } from "./bench_run.ts";

export interface Section {
  title: string;
  /** What is compared with what, for somebody who reads the figures. */
  about: string;
  load: () => Promise<Bench>;
  /** Measured only when it is named: not every machine has what it needs. */
  isOnRequest?: boolean;
}

/** In the order of the document. */
export const SECTIONS: Readonly<Record<string, Section>> = {
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
    load: async () => (await import("./bundle_bench.ts")).benchBundle,
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
    load: async () => (await import("./parquet_bench.ts")).benchParquet,
  },
  increments: {
    title: "what has changed since the last export",
    about: `The tracker writes whole runs of its agents, as in production, into two databases: with the triggers and indexes that
increments need, and without. An increment is compared with the full export of the same datasets, both over HTTP by curl.`,
    load: async () => (await import("./increments_bench.ts")).benchIncrements,
  },
  http: {
    title: "one row, with a key",
    about: `Against Fastify with compiled serializers and node-postgres on Node.js, and against Hono and postgres.js on Bun: both look
the key up and ask for the row, with prepared statements on ten connections.`,
    load: async () => (await import("./http_bench.ts")).benchHttp,
  },
  models: {
    title: "reads of the model catalogue",
    about:
      "The same peers, which ask the database for the page, its total and its aliases; and the sync that fills the catalogue.",
    load: async () => (await import("./models_bench.ts")).benchModels,
  },
  definitions: {
    title: "reads of the registry over HTTP",
    about: `The same peers. They list and search a table of what everybody may see, with a text vector and the indexes that
PostgreSQL's documentation recommends; they know neither private versions, nor filters, nor misspelled words.`,
    load: async () => (await import("./definitions_bench.ts")).benchDefinitions,
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
