/** The benchmark of the registry prints its table: here it is read back, and its columns get their goals. */
import type { BenchRun } from "./bench_run.ts";
import { type Cell, type FigureTable, figure, type Goal } from "./figures.ts";
import { benchRegistry } from "./registry_bench.ts";

/** Issue 4, at a hundred thousand lines. */
const GOALS: readonly [column: RegExp, goal: Goal][] = [
  [/^100k .*p99 ms$/, { atMost: 25 }],
  [/^growth/, { atMost: 2 }],
];

/** Takes several minutes, most of them to make a hundred thousand lines. Not in quick runs: its sizes are fixed. */
export async function benchPrintedRegistry({ command, serverUrl, sizes }: BenchRun): Promise<FigureTable[]> {
  if (sizes.definitionLines < 10_000) return [];
  const printed = await collectOutput(() => benchRegistry(command, serverUrl));
  const tables = readTables(printed);
  if (tables.length === 0) throw new Error("Cannot read the registry's figures: it has printed no table");
  return tables;
}

async function collectOutput(work: () => Promise<void>): Promise<string> {
  const { write } = process.stdout;
  let printed = "";
  process.stdout.write = (chunk: string | Uint8Array) => {
    printed += chunk;
    return true;
  };
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
  return printed;
}

/** The tables of a text, each under the last line of text before it. */
function readTables(printed: string): FigureTable[] {
  const tables: FigureTable[] = [];
  let title = "";
  for (const block of printed.split(/\n{2,}/)) {
    const [header, rule, ...rows] = block.trim().split("\n").map(readCells);
    if (!header || !rule) title = block.trim() || title;
    else
      tables.push({
        title,
        header,
        rows: rows.map((row) => row.map((cell, column) => judged(header[column], cell))),
      });
  }
  return tables;
}

function readCells(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function judged(header: string | undefined, cell: string): Cell {
  const [, goal] = GOALS.find(([column]) => column.test(header ?? "")) ?? [];
  if (!goal || cell === "") return cell;
  return figure(Number(cell), cell.split(".")[1]?.length ?? 0, goal);
}
