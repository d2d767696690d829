/**
 * `bun run bench registry`: the cost of pages of the definitions list by kind of query, and its growth from 10,000
 * lines to 100,000. Creating the lines takes minutes, so quick runs skip this benchmark.
 */
import { openPool, type Pool } from "../../sql/connection/pool.ts";
import { type DefinitionListQuery, listDefinitions } from "../../sql/definitions/list/list_definitions.ts";
import { ALL_DEFINITIONS } from "../helpers/definitions/definition_list.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { COMMON_WORDS, makeBenchRegistry, makeStrangerDrafts, STRANGER_DRAFTS } from "./bench_data.ts";
import { busyMs } from "./machine.ts";
import type { BenchRun } from "./measure.ts";
import { type Cell, type FigureTable, figure } from "./results.ts";

const SIZES = [10_000, 100_000] as const;
/** Goals for the 99th percentile of CPU milliseconds in the database, in the smaller and the larger registry. */
const P99 = [{ atMost: 25 }, { atMost: 60 }] as const;
/** The number of queries per kind and caller, excluding the warm-up. */
const ROUNDS = 100;
const WARM_UP = 10;

type Asked = Partial<Omit<DefinitionListQuery, "filters">> & {
  filters?: Partial<DefinitionListQuery["filters"]>;
};

/** A kind of query. Its values differ in every round. */
type Kind = (round: number) => Asked;

function pick<Item>(items: readonly Item[], round: number): Item {
  const item = items[round % items.length];
  if (item === undefined) throw new RangeError("Cannot pick from nothing");
  return item;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "everything, the latest first": () => ({}),
  "sorted by name": (round) => ({ sortBy: "name", sortOrder: pick(["asc", "desc"], round) }),
  "sorted by executions": (round) => ({
    sortBy: pick(["executionCount", "uniqueExecutionCount"], round),
  }),
  "by type": (round) => ({ filters: { type: pick(["agent", "command", "workflow", "pipeline"], round) } }),
  "by type, domain and agent type": (round) => ({
    filters: {
      type: "agent",
      domain: pick(["software", "security", "legal", "education"], round),
      agentType: pick(["validator", "executor", "analyst"], round),
    },
  }),
  "by status, all versions": (round) => ({
    filters: { status: pick(["published", "deprecated"], round), latestOnly: false },
  }),
  "by tag, sorted by executions": (round) => ({
    filters: { tags: [pick(COMMON_WORDS, round)] },
    sortBy: "executionCount",
  }),
  "a common word": (round) => ({ search: pick(COMMON_WORDS, round) }),
  "two common words": (round) => ({
    search: `${pick(COMMON_WORDS, round)} ${pick(COMMON_WORDS, round * 7 + 3)}`,
  }),
  "a common word, by type, sorted by name": (round) => ({
    search: pick(COMMON_WORDS, round),
    filters: { type: "command" },
    sortBy: "name",
  }),
  "a beginning of one to four letters": (round) => ({
    search: pick(COMMON_WORDS, round).slice(0, 1 + (round % 4)),
  }),
  "a misspelled word": (round) => ({ search: misspell(pick(COMMON_WORDS, round)) }),
  "page 20": (round) => ({ offset: 1000, filters: { type: pick(["agent", "command"], round) } }),
  "half way through everything": () => ({ offset: Number.POSITIVE_INFINITY }),
};

/** Swaps the second and the third letter. */
function misspell(word: string): string {
  const [first = "", second = "", third = "", ...rest] = word;
  return `${first}${third}${second}${rest.join("")}`;
}

/** A registry and its size. */
interface Place extends AsyncDisposable {
  /** The pool of the tables' owner, for writes. */
  sql: Pool;
  /** A pool with one connection, for lists. */
  listSql: Pool;
  /** The process id of the server process behind `listSql`. */
  pid: number;
  userId: string;
  size: number;
}

/** Milliseconds per page: CPU time of the server process, and response time for the client. */
interface Taken {
  database: number[];
  client: number[];
}

export async function benchRegistry(run: BenchRun): Promise<FigureTable[]> {
  if (run.sizes.definitionLines < SIZES[0]) return [];
  await using small = await openPlace(run, SIZES[0]);
  await using large = await openPlace(run, SIZES[1]);
  const rows: Cell[][] = [];
  await run.command.step("Asking for pages", async (note) => {
    for (const [kind, ask] of Object.entries(KINDS)) {
      for (const caller of ["anonymous", "member of three"] as const) {
        note(`${kind}, ${caller}`);
        const taken = await askInTurn([small, large], ask, caller);
        rows.push([`${kind}, ${caller}`, ...taken.flatMap(showTaken), showGrowth(taken)]);
      }
    }
  });
  const columns = SIZES.flatMap((size) => {
    const lines = `${size / 1000}k`;
    return [`${lines} p50 ms`, `${lines} p99 ms`, `${lines} client p99 ms`];
  });
  const pages = { title: "A page of 50 definitions", header: ["query", ...columns, "growth"], rows };
  return [pages, await measureStranger(run, small)];
}

/** Measures a search before a stranger creates matching private drafts, while the drafts exist, and after they are deleted. */
async function measureStranger({ command }: BenchRun, place: Place): Promise<FigureTable> {
  const medianOf = async (): Promise<number> => {
    const [taken] = await askInTurn([place], () => ({ search: "code" }), "anonymous");
    return quantile(taken?.database ?? [], 0.5);
  };
  const medians = await command.step("Searching beside a stranger's drafts", async () => {
    const before = await medianOf();
    await makeStrangerDrafts(place.sql);
    const meanwhile = await medianOf();
    await place.sql`delete from definitions where name like 'stranger-%'`;
    return { before, meanwhile, after: await medianOf() };
  });
  return {
    title: `A search for one word, median ms, with ${STRANGER_DRAFTS} matching private drafts of another user`,
    header: ["when", "ms", "× before"],
    rows: Object.entries(medians).map(([when, ms]) => [
      when,
      figure(ms, 1),
      figure(ms / medians.before, 2, when === "before" ? undefined : { atMost: 1.25 }),
    ]),
  };
}

async function openPlace({ command, serverUrl }: BenchRun, size: number): Promise<Place> {
  const db = await openTestDatabase(serverUrl);
  const title = `Making ${size.toLocaleString("en")} definitions with three versions each`;
  const { userId } = await command.step(title, (note) => makeBenchRegistry(db.owner, size, note));
  const listSql = openPool(db.url, { applicationName: "bench", max: 1 });
  const [{ pid }] = await listSql<[{ pid: number }]>`select pg_backend_pid() as pid`;
  return {
    sql: db.owner,
    listSql,
    pid,
    userId,
    size,
    async [Symbol.asyncDispose]() {
      await listSql.end({ timeout: 1 });
      await db[Symbol.asyncDispose]();
    },
  };
}

/** Queries the registries in turn, so that other load on the machine affects all of them equally. */
async function askInTurn(
  places: readonly Place[],
  ask: Kind,
  caller: "anonymous" | "member of three",
): Promise<Taken[]> {
  const taken = places.map((): Taken => ({ database: [], client: [] }));
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [index, { listSql, pid, userId, size }] of places.entries()) {
      const query = complete(ask(round + WARM_UP), { userId: caller === "anonymous" ? null : userId, size });
      const busyBefore = await busyMs(pid);
      const begun = performance.now();
      await listDefinitions(listSql, query);
      const clientMs = performance.now() - begun;
      if (round < 0) continue;
      taken[index]?.client.push(clientMs);
      taken[index]?.database.push((await busyMs(pid)) - busyBefore);
    }
  }
  return taken;
}

function showTaken({ database, client }: Taken, index: number): Cell[] {
  const p99 = quantile(database, 0.99);
  return [quantile(database, 0.5).toFixed(1), figure(p99, 1, P99[index]), quantile(client, 0.99).toFixed(1)];
}

function showGrowth([small, large]: readonly Taken[]): Cell {
  const medianOf = (taken: Taken | undefined): number => quantile(taken?.database ?? [], 0.5);
  return (medianOf(large) / medianOf(small)).toFixed(2);
}

function complete(
  asked: Asked,
  { userId, size }: { userId: string | null; size: number },
): DefinitionListQuery {
  const { offset = 0 } = asked;
  return {
    viewer: { userId, boundOrgId: null },
    orgId: null,
    search: null,
    sortBy: null,
    sortOrder: "desc",
    limit: 50,
    ...asked,
    offset: Number.isFinite(offset) ? offset : size / 2,
    filters: { ...ALL_DEFINITIONS, ...asked.filters },
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
