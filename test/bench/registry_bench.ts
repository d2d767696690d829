/**
 * `bun run bench registry`: what pages of the list of definitions cost in the database, by kind of query, and how that
 * grows from ten thousand lines to a hundred thousand. Making them takes several minutes.
 */
import type { Command } from "../../shared/stack/bootstrap.ts";
import { type DefinitionListQuery, listDefinitions } from "../../sql/definition_search.ts";
import type { Pool } from "../../sql/pool.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { formatTable } from "./measure.ts";
import { type BenchRegistry, COMMON_WORDS, makeBenchRegistry } from "./registry_data.ts";

const SIZES = [10_000, 100_000] as const;
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

interface Measured {
  p50: number;
  p99: number;
}

export async function benchRegistry(command: Command, serverUrl: string): Promise<void> {
  process.env["TEST_DATABASE_URL"] = serverUrl;
  const results = new Map<string, Measured[]>();
  for (const size of SIZES) {
    await using db = await openTestDatabase();
    const registry = await command.progress.step(
      `Making ${size.toLocaleString("en")} lines with three versions each`,
      () => makeBenchRegistry(db.sql, size),
    );
    for (const [name, measured] of await measureKinds(db.sql, registry, size)) {
      results.set(name, [...(results.get(name) ?? []), measured]);
    }
  }
  const rows = [...results].map(([name, measured]) => {
    const [small, large] = measured;
    const growth = small && large ? (large.p50 / small.p50).toFixed(2) : "";
    return [name, ...measured.flatMap(({ p50, p99 }) => [p50.toFixed(1), p99.toFixed(1)]), growth];
  });
  const columns = SIZES.flatMap((size) => [`${size / 1000}k p50 ms`, `${size / 1000}k p99 ms`]);
  process.stdout.write(
    `\nA page of 50 definitions, all of its queries together\n\n${formatTable(["query", ...columns, "growth"], rows)}\n`,
  );
}

async function measureKinds(
  sql: Pool,
  { userId }: BenchRegistry,
  size: number,
): Promise<Map<string, Measured>> {
  const callers = { anonymous: null, "member of three": userId };
  const measured = new Map<string, Measured>();
  for (const [kind, ask] of Object.entries(KINDS)) {
    for (const [caller, user] of Object.entries(callers)) {
      const times: number[] = [];
      for (let round = -WARM_UP; round < ROUNDS; round += 1) {
        const query = complete(ask(round + WARM_UP), { userId: user, size });
        const begun = performance.now();
        await listDefinitions(sql, query);
        if (round >= 0) times.push(performance.now() - begun);
      }
      measured.set(`${kind}, ${caller}`, { p50: quantile(times, 0.5), p99: quantile(times, 0.99) });
    }
  }
  return measured;
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
    filters: {
      type: null,
      status: null,
      agentType: null,
      domain: null,
      tier: null,
      visibility: null,
      authorId: null,
      authorshipType: null,
      isFork: null,
      tags: [],
      latestOnly: true,
      ...asked.filters,
    },
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
