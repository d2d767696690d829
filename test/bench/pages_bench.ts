/** `bun run bench pages`: the cost of a page compared with the API calls that it makes, and its size. */
import { seedSmallDemo } from "../helpers/demo.ts";
import { loadBundledCatalog } from "../helpers/models/catalog.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { type LoadTarget, measureLoads } from "./http_load.ts";
import { findPostmaster } from "./machine.ts";
import type { BenchRun } from "./measure.ts";
import { type Cell, type FigureTable, figure } from "./results.ts";
import { type BenchServer, startOurs } from "./servers.ts";

/** The maximum time of a page relative to its API calls, and the maximum size of all that it loads. */
const RATIO = { atMost: 2 };
const KILOBYTES = { atMost: 200 };
/** The header that browsers send. Without it, `/` returns JSON. */
const BROWSER = { Accept: "text/html" };

interface MeasuredPage {
  name: string;
  path: string;
  /** The paths of the page's API calls, relative to /api/v1. */
  calls: readonly string[];
}

export async function benchPages(run: BenchRun): Promise<FigureTable[]> {
  await using db = await openTestDatabase(run.serverUrl);
  await loadBundledCatalog(db.sql);
  await seedSmallDemo(db.sql);
  await db.owner`vacuum analyze`;
  // Lists get at most half of the connections (api/turns.ts). With the default pool, most of the 32 clients would wait.
  await using server = await startOurs(db.url, { env: { DATABASE_POOL_MAX: "48" } });
  const postmaster = await findPostmaster(db.sql);
  const rows: Cell[][] = [];
  for (const page of await listPages(server)) {
    rows.push(await measurePage(run, page, { server, postmaster }));
  }
  return [{ title: "Pages and their API calls, for 32 connections", header: HEADER, rows }];
}

const HEADER = [
  "page",
  "pages/s",
  "API calls",
  "calls together/s",
  "page / calls",
  "p99 ms",
  "kB with all it loads",
];

async function measurePage(
  run: BenchRun,
  { name, path, calls }: MeasuredPage,
  { server, postmaster }: { server: BenchServer; postmaster: number },
): Promise<Cell[]> {
  const targets: Record<string, LoadTarget> = { page: { server, path, headers: BROWSER } };
  for (const call of calls) targets[call] = { server, path: `/api/v1${call}` };
  const { page, ...apart } = await measureLoads(run, name, { targets, postmaster });
  if (!page) throw new Error(`Cannot measure the page "${name}": it was not loaded`);
  const secondsOfCalls = Object.values(apart).reduce((sum, one) => sum + 1 / one.requestsPerSecond, 0);
  const bytes = await measurePageBytes(server.url, path);
  return [
    name,
    figure(page.requestsPerSecond, 0),
    figure(calls.length, 0),
    figure(1 / secondsOfCalls, 0),
    figure(1 / page.requestsPerSecond / secondsOfCalls, 2, RATIO),
    figure(page.p99Ms, 1),
    figure(bytes / 1000, 0, KILOBYTES),
  ];
}

async function listPages(server: BenchServer): Promise<MeasuredPage[]> {
  const definition = "/definitions/pipeline/@demo/release-train";
  const models = ["openai/gpt-5", "anthropic/claude-sonnet-4-20250514", "google/gemini-2.5-pro"];
  const ofModel = (name: string) => [`/models/${name}`, `/models/history/${name}`];
  return [
    { name: "start page", path: "/", calls: ["/definitions?limit=1", "/models?limit=1"] },
    { name: "definitions", path: "/definitions", calls: ["/definitions?limit=20"] },
    {
      name: "definition",
      path: definition,
      calls: [
        `${definition}?includeYaml=true&includeRuntime=true`,
        `${definition}/executions?window=43200&include=byTime&timeBucket=day`,
        `${definition}/versions?limit=5`,
      ],
    },
    {
      name: "dependencies",
      path: `${definition}/dependencies`,
      calls: [`${definition}?includeYaml=false&includeRuntime=false`, `${definition}/dependencies`],
    },
    {
      name: "models",
      path: "/models",
      calls: ["/models?facets=true", "/models/providers", "/models/held", await recentHistory(server)],
    },
    {
      name: "model",
      path: `/models/${models[0]}`,
      calls: [
        ...ofModel(models[0] ?? ""),
        `/models/aliases?model=${models[0]}`,
        "/models/resolve/gpt",
        "/models/providers",
        "/models?limit=1",
        "/models/held",
      ],
    },
    {
      name: "three models compared",
      path: `/models/compare?${models.map((name) => `model=${name}`).join("&")}`,
      calls: models.flatMap(ofModel),
    },
  ];
}

/** Returns the API call for the sparklines on the first page of models. */
async function recentHistory({ url }: BenchServer): Promise<string> {
  const response = await fetch(`${url}/api/v1/models`);
  const { data } = (await response.json()) as {
    data: { models: { provider: string; modelId: string; cost: object | null }[] };
  };
  const since = new Date(Date.now() - 90 * 86_400_000).toISOString();
  const query = new URLSearchParams({ field: "input", since, limit: "20" });
  for (const { provider, modelId, cost } of data.models) {
    if (cost !== null) query.append("model", `${provider}/${modelId}`);
  }
  return `/models/history?${query}`;
}

/** Matches the addresses of stylesheets, icons, modules, and the modules' imports. */
const LOADED = /(?:href|src)="(\/dashboard\/assets\/[^"]+)"|from "(\.\/[^"]+)"/g;

/**
 * Fetches the page and the files that it loads, each only once. Returns their total uncompressed size in bytes. Throws if a file is
 * missing.
 */
export async function measurePageBytes(origin: string, path: string): Promise<number> {
  const seen = new Set<string>();
  const queue = [new URL(path, origin).href];
  let bytes = 0;
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    if (seen.has(url)) continue;
    seen.add(url);
    const response = await fetch(url, { headers: { Accept: "text/html", "Accept-Encoding": "identity" } });
    if (!response.ok) throw new Error(`Cannot measure ${path}: ${url} is ${response.status}`);
    const text = await response.text();
    bytes += Buffer.byteLength(text);
    for (const [, file, module] of text.matchAll(LOADED)) {
      const address = file ?? module;
      if (address !== undefined) queue.push(new URL(address, url).href);
    }
  }
  return bytes;
}
