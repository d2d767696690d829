/**
 * RESULTS.md as text: a head, then a section for each benchmark under a heading with its name. A section can be put in
 * the place of its last one without the others. Pure: nothing here measures or writes.
 */
import { type FigureTable, renderFigures, type Score, scoreOf } from "./figures.ts";
import { formatTable } from "./measure.ts";

export interface MeasuredSection {
  name: string;
  title: string;
  /** What is compared with what. */
  about: string;
  measuredAt: Date;
  seconds: number;
  /** Processes that were running or waiting for a processor, as a mean of the minute before. */
  loadBefore: number;
  tables: readonly FigureTable[];
  /** What a person has to say of it, in Markdown; empty for nothing. */
  notes: string;
}

/** Names of facts about the machine, and what they are. */
export type Facts = Readonly<Record<string, string>>;

const HEADING = /^## (\S+): (.+)$/m;
const STATUS = /^Measured (.+ UTC) in .+; (\d+) of (\d+) goals met\.$/m;
const FACT = /^- ([^:\n]+): (.+)$/gm;

export function renderSection(section: MeasuredSection): string {
  const { name, title, about, tables, notes } = section;
  const { met, goals } = scoreOf(tables);
  const at = section.measuredAt.toISOString().slice(0, 16).replace("T", " ");
  const status = `Measured ${at} UTC in ${section.seconds.toFixed(0)} s; load before ${section.loadBefore.toFixed(2)}; ${met} of ${goals} goals met.`;
  const parts = [`## ${name}: ${title}`, about.trim(), status, ...tables.map(renderFigures)];
  if (notes.trim()) parts.push(`### Notes\n\n${notes.trim()}`);
  return parts.join("\n\n");
}

/** The sections of a document by name, each with its heading. */
function readSections(document: string): Map<string, string> {
  const sections = new Map<string, string>();
  for (const part of document.split(/^(?=## )/m)) {
    const [, name] = HEADING.exec(part) ?? [];
    if (name !== undefined) sections.set(name, part.trim());
  }
  return sections;
}

/** The facts that stand in a document's head. */
function readFacts(document: string): Facts {
  const [head = ""] = document.split(/^## /m);
  return Object.fromEntries([...head.matchAll(FACT)].map(([, name = "", value = ""]) => [name, value]));
}

/**
 * The sections of a document with those that were measured now in the place of their old ones. Throws when others stay
 * that were measured on another machine.
 */
export function mergeSections(given: {
  old: string;
  facts: Facts;
  rendered: ReadonlyMap<string, string>;
  order: readonly string[];
}): Map<string, string> {
  const { old, facts, rendered, order } = given;
  const kept = readSections(old);
  for (const name of rendered.keys()) kept.delete(name);
  const oldFacts = readFacts(old);
  const other = Object.entries(facts).find(([name, value]) => kept.size > 0 && oldFacts[name] !== value);
  if (other) {
    const [name, value] = other;
    throw new Error(
      `Cannot put a section into RESULTS.md: ${name} is ${value} here, and was ${oldFacts[name]} for the others`,
    );
  }
  return new Map(
    order.flatMap((name) => {
      const text = rendered.get(name) ?? kept.get(name);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
}

/** The whole document, its sections in the order of the map. */
export function composeDocument(facts: Facts, sections: ReadonlyMap<string, string>): string {
  const list = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  const index = [...sections.values()].map(indexLine);
  const total = [...sections.values()]
    .map(readScore)
    .reduce((sum, score) => ({ met: sum.met + score.met, goals: sum.goals + score.goals }), {
      met: 0,
      goals: 0,
    });
  const head = `# Benchmarks

Written by \`bun run bench --write\`; nothing here is written by hand but the notes, which are in \`notes/\`. What is compared
runs in turn, every figure is a median of the rounds after the first, and a ratio is one of medians of the same run.
\`bun run bench NAME --write\` measures one section again, \`bun run bench --quick\` tries everything in small.

${list.join("\n")}

${total.met} of ${total.goals} goals met:

${formatTable(["section", "measured", "goals met"], index)}`;
  return `${[head, ...sections.values()].join("\n\n")}\n`;
}

function indexLine(section: string): string[] {
  const [, name = "", title = ""] = HEADING.exec(section) ?? [];
  const [, at = ""] = STATUS.exec(section) ?? [];
  const { met, goals } = readScore(section);
  return [`${name}: ${title}`, at, goals === 0 ? "" : `${met} of ${goals}`];
}

function readScore(section: string): Score {
  const [, , met = "0", goals = "0"] = STATUS.exec(section) ?? [];
  return { met: Number(met), goals: Number(goals) };
}
