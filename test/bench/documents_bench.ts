/**
 * `bun run bench documents`: the CPU cost of parsing, rendering, scanning and comparing single documents, including hostile ones.
 */
import { expandDependencies } from "../../api/definitions/dependencies/graph.ts";
import { unifiedDiff } from "../../api/documents/compare_documents.ts";
import { scanDefinition } from "../../api/documents/safety_scan.ts";
import { readYaml } from "../../shared/yaml/document.ts";
import { parsed } from "../helpers/definitions/demo_definitions.ts";
import { HOSTILE_YAML } from "../helpers/definitions/hostile_yaml.ts";
import { translateBody } from "../helpers/definitions/translation.ts";
import { AWKWARD_PIECES, LARGE_BODIES } from "../helpers/http/large_bodies.ts";
import type { BenchRun } from "./measure.ts";
import { type Figure, type FigureTable, figure, type Goal } from "./results.ts";

const RUNS = 20;
const SCANNED_CHARACTERS = 150_000;
const CHAIN = 9000;

type Work = readonly [what: string, run: () => void];

/** Returns the CPU milliseconds of the fastest of several runs, because other load on the machine only adds to them. */
function cost(run: () => void, goal: Goal): Figure {
  const times = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return figure(Math.min(...times), 1, goal);
}

export async function benchDocuments({ command, signal }: BenchRun): Promise<FigureTable[]> {
  const scans = AWKWARD_PIECES.map((piece): Work => {
    const opener = piece.repeat(Math.floor(SCANNED_CHARACTERS / piece.length));
    const source = parsed(
      `agent:\n  interface: {name: a, version: 1.0.0}\n  mission: {opener: ${JSON.stringify(opener)}}\n`,
    );
    return [JSON.stringify(piece), () => scanDefinition(source)];
  });
  const tables: readonly (readonly [title: string, works: readonly Work[], goal: Goal])[] = [
    [
      "Rejected YAML",
      HOSTILE_YAML.map(([what, text]): Work => [what, () => readYaml(text)]),
      { atMost: 100 },
    ],
    [
      "Rendering 40 KB of text",
      LARGE_BODIES.map(([what, type, body]): Work => [what, () => translateBody(type, body)]),
      { atMost: 5 },
    ],
    ["The safety scan of 150,000 characters", scans, { atMost: 1500 }],
    ["A diff and a dependency tree", [diff(), chain()], { atMost: 1500 }],
  ];
  const measured: FigureTable[] = [];
  for (const [title, works, goal] of tables) {
    signal.throwIfAborted();
    const measure = async () => works.map(([what, run]) => [what, cost(run, goal)]);
    const rows = await command.step(`Measuring ${title}`, measure);
    measured.push({ title, header: ["", "ms"], rows });
  }
  return measured;
}

function diff(): Work {
  const lines = (word: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${word} ${n}`).join("\n");
  const [from, to] = [lines("old", 9000), lines("new", 7000)];
  return ["9,000 lines and 7,000 others", () => unifiedDiff(from, to, "agent.yaml")];
}

function chain(): Work {
  const ids = Array.from({ length: CHAIN + 1 }, (_, n) => String(n));
  const nodes = new Map(
    ids.map((id) => [id, { id, organization: "demo", type: "agent" as const, name: id, version: "1.0.0" }]),
  );
  const edges = new Map(ids.slice(1).map((to, n) => [String(n), new Map([[to, "requires"]])]));
  return ["A chain of 9,000 definitions", () => expandDependencies({ nodes, edges }, { rootId: "0" })];
}
