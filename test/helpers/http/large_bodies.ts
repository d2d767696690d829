/** Definition bodies of about 40 KB, each full of one construct or of characters that need escapes. */
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { agentBody, pipelineBody, workflowBody } from "../definitions/translation.ts";

/** Pieces of text that make a backtracking pattern slow when repeated. */
export const AWKWARD_PIECES: readonly string[] = [
  "curl ",
  "curl | ",
  "never ",
  "read ~/",
  "ignore all ",
  "https://{{",
  "@a/",
  "do not tell ",
  "env ",
  "\\\n|",
  "cat cat ",
  "curl -o x x\n",
  "sh x; ",
  "curl https://x/y ",
  "| sh ",
  "tar - .env ",
  "http://%a",
  "chmod +x ",
  "\u0441url ",
  "\uFDFA",
];

const text = "Judge `what` the change does, not | how it **looks** to you; <b>see</b> {{ target }}. ";

export const LARGE_BODIES: readonly (readonly [what: string, type: DefinitionType, body: unknown])[] = [
  ["scoring", "agent", agentBody("validator", { scoring: { categories: categories(40) } })],
  ["prose", "agent", agentBody("explorer", { mission: { opener: text.repeat(470) } })],
  ["phases", "workflow", workflowBody(phases(280))],
  ["stages", "pipeline", pipelineBody(stages(340))],
  [
    "unknown maps",
    "agent",
    agentBody("explorer", {
      custom: Array.from({ length: 620 }, (_, n) => ({
        key: `value number ${n}`,
        more: { a: n, some_note: "short" },
      })),
    }),
  ],
  [
    "small items",
    "agent",
    agentBody("explorer", { custom: Array.from({ length: 19_000 }, (_, n) => n % 10) }),
  ],
  ["backticks", "agent", agentBody("explorer", { mission: { opener: runs("`") } })],
  ["single backticks", "agent", agentBody("explorer", { mission: { opener: "` ``".repeat(10_000) } })],
  [
    "backslashes",
    "agent",
    agentBody("explorer", { knowledge_base: { key_definitions: { a: "\\".repeat(40_000) } } }),
  ],
  [
    "escaped backticks",
    "agent",
    agentBody("explorer", { mission: { opener: `${"\\".repeat(20_000)}${"`\\".repeat(10_000)}` } }),
  ],
  ["braces", "agent", agentBody("explorer", { mission: { opener: "{{".repeat(20_000) } })],
  ["percent braces", "agent", agentBody("explorer", { mission: { opener: "{% x ".repeat(8_000) } })],
  ["number signs", "agent", agentBody("explorer", { interface: { displayName: `${"#".repeat(40_000)} x` } })],
  [
    "spaces",
    "agent",
    agentBody("explorer", {
      mission: { opener: `${" ".repeat(40_000)}x`, stakes: `a${" \n".repeat(20_000)}b` },
    }),
  ],
  ["dashes", "agent", agentBody("explorer", { mission: { opener: `${"- ".repeat(20_000)}x` } })],
  ["brackets", "agent", agentBody("explorer", { mission: { opener: "[".repeat(40_000) } })],
  ["a long key", "agent", agentBody("explorer", { ["aB_".repeat(13_000)]: "x" })],
  ["a deep map", "agent", agentBody("explorer", { custom: deep(58) })],
  [
    "a fence",
    "agent",
    agentBody("explorer", { custom: { script: `a\n${"`".repeat(20_000)}${"\n ".repeat(10_000)}b` } }),
  ],
];

function categories(count: number): unknown[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `c${n}`,
    name: `Category ${n}`,
    weight: 10,
    criteria: Array.from({ length: 6 }, (_, m) => ({
      id: `k${m}`,
      name: `Criterion ${m}`,
      points: 2,
      description: text,
    })),
  }));
}

function phases(count: number): unknown[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `p${n}`,
    name: `Phase ${n}`,
    depends_on: n === 0 ? [] : [`p${n - 1}`, `p${Math.floor(n / 2)}`],
    gate: { threshold: 50, on_fail: "stop" },
    steps: [{ agent: "helper@^1.0.0" }],
  }));
}

function stages(count: number): unknown[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `s${n}`,
    name: `Stage ${n}`,
    depends_on: n === 0 ? [] : ["s0"],
    steps: [{ name: "Do", command: "make all", timeout: 1000 }],
  }));
}

function runs(char: string): string {
  let all = "";
  for (let length = 1; all.length < 40_000; length++) all += `${char.repeat(length)} `;
  return all;
}

function deep(depth: number): unknown {
  let value: unknown = text;
  for (let level = 0; level < depth; level++) value = { next: value, note: text.repeat(8) };
  return value;
}
