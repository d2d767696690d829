/**
 * `bun run bench models`: the catalogue's answers against a server on Fastify and node-postgres that asks the database
 * every time, and what a sync of a catalogue of today's size costs. Needs Node.js.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { formatTable, median } from "./measure.ts";
import { MODEL_COUNT, makeLargeDocument } from "./models_data.ts";
import { COMPARE_HEADER, CONNECTIONS, compareLoads, compareRow, startOurs, startPeer } from "./peers.ts";

const SYNC_ROUNDS = 3;
const MEBIBYTE = 2 ** 20;

const PATHS = {
  "a page of 50": "/api/v1/models",
  "another page, 200": "/api/v1/models?limit=200&offset=1000",
  "an alias": "/api/v1/models/resolve/gpt-5",
} as const;

export async function benchModels(command: Command, serverUrl: string): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  const directory = await mkdtemp(join(tmpdir(), "ulr-bench-"));
  try {
    const documentPath = join(directory, "models.json");
    await writeFile(documentPath, JSON.stringify(await makeLargeDocument()));
    say(`A sync of ${MODEL_COUNT.toLocaleString("en")} models`, await benchSync(command, documentPath));
    say(
      `${CONNECTIONS} connections, against Fastify and node-postgres on Node.js`,
      await benchAnswers(command, documentPath),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

function say(title: string, table: string): void {
  process.stdout.write(`\n${title}\n\n${table}\n`);
}

interface SyncRun {
  /** From the run's own record. */
  seconds: number;
  processSeconds: number;
  peakMebibytes: number;
}

/** Runs the sync as a process of its own, as it is in production. */
async function runSync(
  root: string,
  databaseUrl: string,
  documentPath: string,
): Promise<Omit<SyncRun, "seconds">> {
  const begun = performance.now();
  const child = Bun.spawn([process.execPath, join(root, "catalog-sync/main.ts"), "--once"], {
    env: { DATABASE_URL: databaseUrl, CATALOG_SOURCE: documentPath },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("Cannot measure: the sync failed");
  return {
    processSeconds: (performance.now() - begun) / 1000,
    peakMebibytes: (child.resourceUsage()?.maxRSS ?? Number.NaN) / MEBIBYTE,
  };
}

async function benchSync({ root }: Command, documentPath: string): Promise<string> {
  const kinds = { "everything is new": [] as SyncRun[], "nothing has changed": [] as SyncRun[] };
  for (let round = 0; round < SYNC_ROUNDS; round += 1) {
    await using db = await openTestDatabase();
    for (const runs of Object.values(kinds)) {
      const run = await runSync(root, db.url, documentPath);
      const [record] = await db.sql<[{ seconds: number }]>`
        select extract(epoch from finished_at - started_at)::float8 as seconds
        from catalog_syncs
        order by id desc
        limit 1`;
      runs.push({ ...run, seconds: record.seconds });
    }
  }
  const rows = Object.entries(kinds).map(([name, runs]) => [
    name,
    median(runs.map(({ seconds }) => seconds)).toFixed(2),
    median(runs.map(({ processSeconds }) => processSeconds)).toFixed(2),
    Math.max(...runs.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
  ]);
  return formatTable(["sync", "run s", "process s", "peak MiB"], rows);
}

async function benchAnswers({ root }: Command, documentPath: string): Promise<string> {
  await using db = await openTestDatabase();
  await runSync(root, db.url, documentPath);
  await db.sql`vacuum analyze models, model_aliases`;
  await using api = await startOurs(db.url);
  await using peer = await startPeer(root, {
    script: "models_peer.ts",
    databaseUrl: db.url,
    readyPath: "/api/v1/models?limit=1",
  });
  const rows: string[][] = [];
  for (const [name, path] of Object.entries(PATHS)) {
    rows.push(compareRow(name, await compareLoads([`${api.url}${path}`, `${peer.url}${path}`])));
  }
  return formatTable(COMPARE_HEADER, rows);
}
