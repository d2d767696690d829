/**
 * `bun run bench growth`: how the cost per unit grows when there are ten times as many projects, definitions or
 * clients.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import { AS_OF, makeBenchProject } from "./bench_data.ts";
import { download } from "./export_bench.ts";
import { CONNECTIONS, measureLoads } from "./http_load.ts";
import { type BenchOrg, buildByJob } from "./jobs_bench.ts";
import { findPostmaster } from "./machine.ts";
import { type BenchRun, measureInTurn, metered } from "./measure.ts";
import { makeReadRegistry, type ReadRegistry, seedCatalog } from "./reads_bench.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./results.ts";
import { type BenchServer, startOurs } from "./servers.ts";

export async function benchGrowth(run: BenchRun): Promise<FigureTable[]> {
  const tables: FigureTable[] = [];
  for (const grow of [growProjects, growDefinitions, growClients]) {
    const { title, rows } = await grow(run);
    tables.push({ title, header: GROWTH_HEADER, rows });
  }
  return tables;
}

/** The total cost may grow linearly, so the cost per unit must not grow. The goal allows 10 percent for noise. */
const LINEAR_GOAL = { atMost: 1.1 };

export const GROWTH_HEADER = ["cost", "once", "ten times", "growth"];

export type Growth = Omit<FigureTable, "header">;

export function growthRow(
  name: string,
  { small, large, goal = LINEAR_GOAL }: { small: number; large: number; goal?: Goal },
): Cell[] {
  return [name, figure(small, 2), figure(large, 2), figure(large / small, 2, goal)];
}

export async function growClients(run: BenchRun): Promise<Growth> {
  const many = CONNECTIONS * 10;
  await using db = await openTestDatabase(run.serverUrl);
  const { user, key } = await createFactory(db.sql).person();
  await seedCatalog(run.command.root, db.url);
  await using ours = await startOurs(db.url);
  const reads = {
    "a user, with a key": { path: `/api/v1/users/${user.id}`, headers: { Authorization: `Bearer ${key}` } },
    "a page of the catalog": { path: "/api/v1/models" },
  };
  const rows: Cell[][] = [];
  for (const [name, read] of Object.entries(reads)) {
    const { few, all } = await measureLoads(run, `${name}, for ${CONNECTIONS} clients and ${many}`, {
      targets: {
        few: { server: ours, connections: CONNECTIONS, ...read },
        all: { server: ours, connections: many, ...read },
      },
      postmaster: await findPostmaster(db.sql),
    });
    rows.push(
      growthRow(`µs a request for ${name}`, {
        small: 1e6 / few.requestsPerSecond,
        large: 1e6 / all.requestsPerSecond,
      }),
      growthRow(`µs of CPU a request for ${name}`, { small: few.cpuPerRequest, large: all.cpuPerRequest }),
    );
  }
  return { title: `${CONNECTIONS} and ${many} concurrent clients`, rows };
}

/** A page shows an exact total, so its cost may grow in proportion to the number of matches. */
const PAGE_GOAL = { atMost: 10 };

export async function growDefinitions(run: BenchRun): Promise<Growth> {
  const large = run.sizes.definitionLines;
  const small = large / 10;
  await using started = new AsyncDisposableStack();
  const before = await installRegistry(run, { started, lines: small });
  const after = await installRegistry(run, { started, lines: large });
  const rows: Cell[][] = [];
  for (const [index, { name, path }] of before.reads.entries()) {
    const loads = await measureLoads(run, `${name}, among ${small} lines and ${large}`, {
      targets: {
        small: { server: before.ours, path },
        large: { server: after.ours, path: after.reads[index]?.path ?? path },
      },
      postmaster: after.postmaster,
    });
    rows.push(
      growthRow(`µs a request for ${name}`, {
        small: 1e6 / loads.small.requestsPerSecond,
        large: 1e6 / loads.large.requestsPerSecond,
        ...(index === 0 ? {} : { goal: PAGE_GOAL }),
      }),
    );
  }
  const title = `${small.toLocaleString("en")} and ${large.toLocaleString("en")} lines of definitions, three versions each`;
  return { title, rows };
}

async function installRegistry(
  { command, serverUrl }: BenchRun,
  { started, lines }: { started: AsyncDisposableStack; lines: number },
): Promise<ReadRegistry & { ours: BenchServer; postmaster: number }> {
  const db = started.use(await openTestDatabase(serverUrl));
  const registry = await command.step(`Making ${lines.toLocaleString("en")} lines`, () =>
    makeReadRegistry(db, lines),
  );
  const ours = started.use(await startOurs(db.url));
  return { ...registry, ours, postmaster: await findPostmaster(db.sql) };
}

interface Installation {
  db: TestDatabase;
  ours: BenchServer;
  org: BenchOrg;
}

export async function growProjects(run: BenchRun): Promise<Growth> {
  const { projects, projectIssues, rounds } = run.sizes;
  await using started = new AsyncDisposableStack();
  const small = await installProjects(run, { started, projects: projects / 10 });
  const large = await installProjects(run, { started, projects });
  const builds = await measureInTurn(run, `builds of ${projects / 10} and of ${projects} projects`, {
    tasks: {
      small: () => buildByJob(small, { org: small.org, format: "ndjson" }),
      large: () => buildByJob(large, { org: large.org, format: "ndjson" }),
    },
    rounds,
  });
  const exports = await measureInTurn(run, `exports of one of ${projects / 10} and of ${projects} projects`, {
    tasks: {
      small: () => metered({}, () => exportFirst(small)),
      large: () => metered({}, () => exportFirst(large)),
    },
    rounds,
  });
  return {
    title: `${projects / 10} and ${projects} projects of ${projectIssues.toLocaleString("en")} issues`,
    rows: [
      growthRow("ms a project of a build", {
        small: (builds.small.seconds * 1000) / small.org.projects.length,
        large: (builds.large.seconds * 1000) / large.org.projects.length,
      }),
      growthRow("ms an export of one project's issues", {
        small: exports.small.seconds * 1000,
        large: exports.large.seconds * 1000,
      }),
    ],
  };
}

/** Creates a database with this many projects, and starts an API and a job runner for it. */
async function installProjects(
  { command, serverUrl, sizes }: BenchRun,
  { started, projects }: { started: AsyncDisposableStack; projects: number },
): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const db = started.use(await openTestDatabase(serverUrl));
  const make = createFactory(db.sql);
  const org: BenchOrg = { person: await make.person(), projects: [] };
  await command.step(`Making ${projects} projects`, async () => {
    while (org.projects.length < projects) {
      org.projects.push(await makeBenchProject({ db, make, person: org.person }, sizes.projectIssues, true));
    }
  });
  await db.owner`vacuum analyze`;
  started.use(await startRunner({ DATABASE_URL: db.url, DATA_DIR: directory }));
  return { db, org, ours: started.use(await startOurs(db.url, { dataDirectory: directory })) };
}

async function exportFirst({ ours, org }: Installation): Promise<{ bytes: number }> {
  const [project] = org.projects;
  const path = `/api/v1/export/projects/${project?.id}/issues?format=ndjson&as_of=${AS_OF}`;
  return download(`${ours.url}${path}`, org.person);
}
