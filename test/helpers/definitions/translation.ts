/** Translates definitions in tests, and parses the resulting Markdown with markdown-it. */
import { createHash } from "node:crypto";
import MarkdownIt from "markdown-it";
import { parse } from "yaml";
import { type Translation, translateDefinition } from "../../../shared/definitions/translate/translate.ts";
import type { DefinitionType } from "../../../shared/vocabulary.ts";
import { parsed, readDemoDefinitions } from "./demo_definitions.ts";

type Body = Record<string, unknown>;

const parser = new MarkdownIt({ html: true });

/** Translates a body as the definition `sample@1.0.0`. */
export function translateBody(type: DefinitionType, body: unknown): Translation {
  return translateDefinition({ type, name: "sample", version: "1.0.0", body: body as Body });
}

/** Returns the Markdown of a body; throws if it cannot be translated. */
export function rendered(type: DefinitionType, body: unknown): string {
  const translation = translateBody(type, body);
  if (!translation.ok) throw new Error(`Cannot translate: ${JSON.stringify(translation)}`);
  return translation.runtimeMd;
}

/**
 * Returns the smallest agent body that can be rendered. `blocks` replaces or adds blocks; its `interface` is merged.
 */
export function agentBody(agentType: string, blocks: Body = {}): Body {
  const { interface: header, ...others } = blocks;
  return {
    interface: { ...HEADER, agentType, ...(header as Body | undefined) },
    ...AGENT_BLOCKS[agentType],
    ...others,
  };
}

export function commandBody(blocks: Body = {}): Body {
  const { interface: header, ...others } = blocks;
  return { interface: { ...HEADER, commandType: "utility", ...(header as Body | undefined) }, ...others };
}

export function workflowBody(phases: unknown, blocks: Body = {}): Body {
  return { interface: HEADER, orchestration: { phases }, ...blocks };
}

export function pipelineBody(stages: unknown, blocks: Body = {}): Body {
  return { interface: HEADER, stages, ...blocks };
}

const HEADER = { displayName: "Sample", description: "Does what a sample does, no more.", domain: "general" };

const AGENT_BLOCKS: Readonly<Record<string, Body>> = {
  validator: {
    scoring: { categories: [{ id: "only", name: "Only", weight: 100 }] },
    decisions: { vocabulary: { positive: "YES", negative: "NO" }, preset: "quality_gate" },
  },
  executor: {
    tasks: { operations: [{ id: "do", name: "Do it" }] },
    completion: { vocabulary: { complete: "DONE" } },
  },
  analyst: { process: { phases: [{ id: "look", name: "Look" }] } },
  generator: { tasks: { operations: [{ id: "write", name: "Write it" }] } },
  explorer: { mission: { opener: "You look around." } },
  forecaster: {
    mission: { opener: "You look ahead." },
    process: { phases: [{ id: "think", name: "Think" }] },
  },
};

export interface LoadedMarkdown {
  frontMatter: Record<string, string>;
  body: string;
}

/**
 * Splits a rendered file into front matter and body. Like coding agents, takes the front matter from between the first
 * two `---` lines.
 */
export function load(markdown: string): LoadedMarkdown {
  const match = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(markdown);
  if (!match) throw new Error("Cannot find the front matter");
  return { frontMatter: parse(match[1] ?? ""), body: match[2] ?? "" };
}

/** Returns the headings that a Markdown parser finds, in source form: `## Purpose`, `### 1. Read`, … */
export function outline(markdown: string): string[] {
  const tokens = parser.parse(load(markdown).body, {});
  return tokens.flatMap((token, index) =>
    token.type === "heading_open"
      ? [`${"#".repeat(Number(token.tag.slice(1)))} ${tokens[index + 1]?.content}`]
      : [],
  );
}

/** Lists the blocks of the file with their depth but without their text. Each table cell is a block. */
export function structure(markdown: string): string[] {
  return parser
    .parse(load(markdown).body, {})
    .filter((token) => token.type !== "inline")
    .map((token) => `${token.level} ${token.type} ${token.tag} ${token.type === "fence" ? token.info : ""}`);
}

/** Returns the cells of the first table below a heading, row by row. */
export function tableBelow(markdown: string, heading: string): string[][] {
  const tokens = parser.parse(load(markdown).body, {});
  const start = tokens.findIndex((token) => token.type === "inline" && token.content === heading);
  const rows: string[][] = [];
  for (const [index, token] of tokens.entries()) {
    if (start < 0 || index < start) continue;
    if (token.type === "table_close") break;
    if (token.type === "tr_open") rows.push([]);
    if (/^t[hd]_open$/.test(token.type)) rows.at(-1)?.push(tokens[index + 1]?.content ?? "");
  }
  return rows;
}

/**
 * Returns the text from a heading to the next heading of the same or a higher level. Empty if the heading is missing.
 */
export function sectionOf(markdown: string, heading: string): string {
  const { body } = load(markdown);
  const lines = body.split("\n");
  const starts = parser
    .parse(body, {})
    .flatMap((token) => (token.type === "heading_open" && token.map ? [token.map[0]] : []));
  const start = starts.find((line) => lines[line] === heading);
  if (start === undefined) return "";
  const level = heading.indexOf(" ");
  const next = starts.find((line) => line > start && (lines[line] ?? "").indexOf(" ") <= level);
  return lines
    .slice(start + 1, next)
    .join("\n")
    .trim();
}

export interface Golden {
  file: string;
  runtimeMd: string;
}

/** Translates the demo's documents to Markdown. */
export function translateDemo(): Golden[] {
  return readDemoDefinitions().map(({ file, type, yaml }) => {
    const { name, version, body } = parsed(yaml, type);
    const translation = translateDefinition({ type, name, version, body });
    if (!translation.ok) throw new Error(`Cannot translate ${file}: ${JSON.stringify(translation)}`);
    return { file: file.replace(/\.yaml$/, ".md"), runtimeMd: translation.runtimeMd };
  });
}

/** Returns one digest of the names and contents of all files. */
export function digestGoldens(goldens: readonly Golden[]): string {
  return createHash("sha256").update(JSON.stringify(goldens)).digest("hex");
}
