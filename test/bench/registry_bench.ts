/**
 * `bun run bench registry`: what pages of the list of definitions cost, by kind of query, and how that grows from ten
 * thousand lines to a hundred thousand. Making them takes some minutes.
 */
import type { Command } from "../../shared/stack/bootstrap.ts";
import { type DefinitionListQuery, listDefinitions } from "../../sql/definition_search.ts";
import type { Pool } from "../../sql/pool.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { ALL_DEFINITIONS } from "../helpers/definition_list.ts";
import { formatTable } from "./measure.ts";
import { COMMON_WORDS, makeBenchRegistry } from "./registry_data.ts";

const SIZES = [10_000, 100_000] as const;
/** Goals: milliseconds of the 99th percentile in the larger registry, and its median against that of the smaller one. */
const MOST_P99 = 25;
const MOST_GROWTH = 2;
/** Of each kind and caller, after some that do not count. */
const ROUNDS = 200;
const WARM_UP = 10;

type Asked = Partial<Omit<DefinitionListQuery, "filters">> & {
  filters?: Partial<DefinitionListQuery["filters"]>;
};

/** A kind of query, different on every round. */
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

/** Two letters in each other's place. */
function misspell(word: string): string {
  const [first = "", second = "", third = "", ...rest] = word;
  return `${first}${third}${second}${rest.join("")}`;
}

/** A registry to ask, and its size. */
interface Place {
  sql: Pool;
  userId: string;
  size: number;
}

interface Measured {
  p50: number;
  p99: number;
}

export async function benchRegistry(command: Command, serverUrl: string): Promise<void> {
  await using small = await openTestDatabase(serverUrl);
  await using large = await openTestDatabase(serverUrl);
  const places: Place[] = [];
  for (const [index, { sql }] of [small, large].entries()) {
    const size = pick(SIZES, index);
    const title = `Making ${size.toLocaleString("en")} definitions with three versions each`;
    const { userId } = await command.progress.step(title, (note) => makeBenchRegistry(sql, size, note));
    places.push({ sql, userId, size });
  }
  const rows: string[][] = [];
  const missed: string[] = [];
  await command.progress.step("Asking for pages", async (note) => {
    for (const [kind, ask] of Object.entries(KINDS)) {
      for (const caller of ["anonymous", "member of three"] as const) {
        const name = `${kind}, ${caller}`;
        note(name);
        const measured = await measureInPlaces(places, ask, caller);
        const { cells, goals } = judge(measured);
        rows.push([name, ...cells]);
        missed.push(...goals.map((goal) => `${name}: ${goal}`));
      }
    }
  });
  process.stdout.write(report(rows, missed));
}

/** Asks the places in turn, as what else the machine does should slow down both. */
async function measureInPlaces(
  places: readonly Place[],
  ask: Kind,
  caller: "anonymous" | "member of three",
): Promise<Measured[]> {
  const times = places.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [index, { sql, userId, size }] of places.entries()) {
      const query = complete(ask(round + WARM_UP), { userId: caller === "anonymous" ? null : userId, size });
      const begun = performance.now();
      await listDefinitions(sql, query);
      if (round >= 0) times[index]?.push(performance.now() - begun);
    }
  }
  return times.map((taken) => ({ p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) }));
}

/** The row of a table, and what goals the measured times miss. */
function judge(measured: readonly Measured[]): { cells: string[]; goals: string[] } {
  const [small, large] = measured;
  if (!small || !large) throw new Error("Cannot compare registries: there have to be two");
  const growth = large.p50 / small.p50;
  const goals = [
    ...(large.p99 > MOST_P99 ? [`p99 is ${large.p99.toFixed(1)} ms, more than ${MOST_P99}`] : []),
    ...(growth > MOST_GROWTH ? [`grows ${growth.toFixed(2)} times, more than ${MOST_GROWTH}`] : []),
  ];
  const times = measured.flatMap(({ p50, p99 }) => [p50.toFixed(1), p99.toFixed(1)]);
  return { cells: [...times, growth.toFixed(2), goals.length === 0 ? "yes" : "no"], goals };
}

function report(rows: readonly string[][], missed: readonly string[]): string {
  const columns = SIZES.flatMap((size) => [`${size / 1000}k p50 ms`, `${size / 1000}k p99 ms`]);
  const table = formatTable(["query", ...columns, "growth", "goals met"], rows);
  const verdict =
    missed.length === 0
      ? `Every page meets the goals: p99 at most ${MOST_P99} ms, growth at most ${MOST_GROWTH}.`
      : `Goals that are missed:\n${missed.map((goal) => `- ${goal}`).join("\n")}`;
  return `\nA page of 50 definitions, all of its queries together\n\n${table}\n\n${verdict}\n`;
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
