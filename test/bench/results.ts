/**
 * Reads and writes RESULTS.md, which has a head and a section for each benchmark, with tables of figures and goals.
 * Sections can be replaced one by one. Also parses the arguments of `bun run bench`.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../helpers/format_table.ts";

export interface MeasuredSection {
  name: string;
  title: string;
  /** Explains to readers what is compared. */
  about: string;
  measuredAt: Date;
  commit: string;
  seconds: number;
  /** The load average of the minute before the first benchmark. */
  loadBefore: number;
  tables: readonly FigureTable[];
}

/** Facts about the machine, by name. */
export type Facts = Readonly<Record<string, string>>;

/** The parts of a document: the facts about its machine, and its sections by name, in order. */
export interface Results {
  facts: Facts;
  sections: ReadonlyMap<string, string>;
}

const HEADING = /^## (\S+): (.+)$/m;
const STATUS = /^Measured (.+) UTC (?:at .+ )?in .+; load before (.+); (\d+) of (\d+) goals met\.$/m;
const FACT = /^- ([^:\n]+): (.+)$/gm;
const NOTES = "\n\n### Notes\n\n";

export function renderSection(section: MeasuredSection): string {
  const { name, title, about, tables, commit, seconds, loadBefore } = section;
  const { met, goals } = scoreOf(tables);
  const at = section.measuredAt.toISOString().slice(0, 16).replace("T", " ");
  const status = `Measured ${at} UTC at ${commit} in ${seconds.toFixed(0)} s; load before ${loadBefore.toFixed(2)}; ${met} of ${goals} goals met.`;
  return [`## ${name}: ${title}`, about, status, ...tables.map(renderFigures)].join("\n\n");
}

/** Parses a document from `composeDocument`. An empty text has no facts and no sections. */
export function readDocument(document: string): Results {
  const [head = "", ...parts] = document.split(/^(?=## )/m);
  const facts = [...head.matchAll(FACT)].map(([, name = "", value = ""]) => [name, value]);
  const sections = parts.map((part) => [HEADING.exec(part)?.[1] ?? "", part.trim()] as const);
  return { facts: Object.fromEntries(facts), sections: new Map(sections) };
}

/**
 * Returns the name of a fact that differs from the old results; null if none differs. A difference means that no old
 * section can be kept.
 */
export function findOtherFact(old: Results, facts: Facts): string | null {
  if (old.sections.size === 0) return null;
  return Object.keys(facts).find((name) => old.facts[name] !== facts[name]) ?? null;
}

/** Returns the whole document, with the sections in the order of the map and with notes by section name. */
export function composeDocument(
  { facts, sections }: Results,
  notes: Readonly<Record<string, string>>,
): string {
  const texts = [...sections].map(([name, text]) => withNotes(text, notes[name]));
  const scores = texts.map(readScore);
  const met = scores.reduce((sum, score) => sum + score.met, 0);
  const goals = scores.reduce((sum, score) => sum + score.goals, 0);
  const head = `# Benchmarks

\`bun run bench\` writes this page. Only the notes are written by hand, in \`notes/\`. The compared programs run in turn, in
reverse order every other round. Each figure is the median of the rounds after the first. A ratio is the ratio of two medians of
the same run; where its middle half is shown, it is the median of the ratios of each round. \`bun run bench NAME --write\`
measures one section again, \`bun run bench --quick\` runs every benchmark on little data.

${Object.entries(facts)
  .map(([name, value]) => `- ${name}: ${value}`)
  .join("\n")}

${met} of ${goals} goals met:

${formatTable(["section", "measured, UTC", "load before", "goals met"], texts.map(indexLine))}`;
  return `${[head, ...texts].join("\n\n")}\n`;
}

/** Returns a section with its notes replaced by `notes`. */
function withNotes(section: string, notes = ""): string {
  const [text = ""] = section.split(NOTES);
  return notes.trim() ? `${text}${NOTES}${notes.trim()}` : text;
}

function indexLine(section: string): string[] {
  const [, name = "", title = ""] = HEADING.exec(section) ?? [];
  const [, at = "", load = ""] = STATUS.exec(section) ?? [];
  const { met, goals } = readScore(section);
  return [`${name}: ${title}`, at, load, goals === 0 ? "" : `${met} of ${goals}`];
}

function readScore(section: string): Score {
  const [, , , met = "0", goals = "0"] = STATUS.exec(section) ?? [];
  return { met: Number(met), goals: Number(goals) };
}

export interface Goal {
  atMost?: number;
  atLeast?: number;
}

export interface Figure {
  value: number;
  /** Digits after the decimal point. */
  digits: number;
  goal?: Goal;
}

/** A cell of a table. Text is shown unchanged. */
export type Cell = string | Figure;

export interface FigureTable {
  title: string;
  header: readonly string[];
  /** The first cell of a row is its name. */
  rows: readonly (readonly Cell[])[];
}

/** The number of goals in tables, and how many of them are met. */
export interface Score {
  met: number;
  goals: number;
}

/** Creates a figure, with or without a goal. */
export function figure(value: number, digits: number, goal?: Goal): Figure {
  return goal ? { value, digits, goal } : { value, digits };
}

/**
 * Returns true if a figure meets its goal. An unmeasured figure never does. The rounded value is compared, so that a table does not
 * contradict itself.
 */
function isMet({ value, digits, goal = {} }: Figure): boolean {
  const shown = Number(value.toFixed(digits));
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = goal;
  return shown <= atMost && shown >= atLeast;
}

export function scoreOf(tables: readonly FigureTable[]): Score {
  const judged = tables.flatMap(({ rows }) => rows.flatMap((row) => row.filter(isJudged)));
  return { met: judged.filter(isMet).length, goals: judged.length };
}

/**
 * Formats a table as Markdown. A table with goals also has columns for goals and results, and a list of missed goals.
 */
export function renderFigures({ title, header, rows }: FigureTable): string {
  const hasGoals = rows.some((row) => row.some(isJudged));
  const lines = rows.map((row) => [...row.map(showCell), ...(hasGoals ? judge(header, row) : [])]);
  const table = formatTable([...header, ...(hasGoals ? ["goal", "met"] : [])], lines);
  const misses = rows.flatMap((row) => listMisses(header, row));
  const missed = misses.length > 0 ? `\n\nMissed:\n\n${misses.map((miss) => `- ${miss}`).join("\n")}` : "";
  return `### ${title}\n\n${table}${missed}`;
}

function isJudged(cell: Cell): cell is Figure & { goal: Goal } {
  return typeof cell !== "string" && cell.goal !== undefined;
}

function showCell(cell: Cell): string {
  if (typeof cell === "string") return cell;
  return Number.isNaN(cell.value) ? "" : cell.value.toFixed(cell.digits);
}

/** Returns the goals of a row, and whether all are met. Both are empty for a row without goals. */
function judge(header: readonly string[], row: readonly Cell[]): [goals: string, met: string] {
  const judged = row.filter(isJudged);
  if (judged.length === 0) return ["", ""];
  const goals = row.flatMap((cell, column) =>
    isJudged(cell) ? [`${header[column]} ${showGoal(cell, "≥", "≤")}`] : [],
  );
  return [goals.join(", "), judged.every(isMet) ? "yes" : "**no**"];
}

function listMisses(header: readonly string[], row: readonly Cell[]): string[] {
  const [name = ""] = row;
  return row.flatMap((cell, column) => {
    if (!isJudged(cell) || isMet(cell)) return [];
    const value = Number.isNaN(cell.value) ? "not measured" : showCell(cell);
    return [
      `${showCell(name)}: ${header[column]} is ${value}, the goal ${showGoal(cell, "at least", "at most")}`,
    ];
  });
}

function showGoal({ goal, digits }: Figure & { goal: Goal }, least: string, most: string): string {
  const bounds: string[] = [];
  if (goal.atLeast !== undefined) bounds.push(`${least} ${goal.atLeast.toFixed(digits)}`);
  if (goal.atMost !== undefined) bounds.push(`${most} ${goal.atMost.toFixed(digits)}`);
  return bounds.join(" and ");
}

const FOLDER = "test/bench";
export const RESULTS_PATH = `${FOLDER}/RESULTS.md`;

/** Throws if the sections to keep were measured on another machine. */
export async function requireSameMachine(root: string, facts: Facts): Promise<void> {
  const old = readDocument(await readResults(root));
  const name = findOtherFact(old, facts);
  if (name === null) return;
  throw new Error(
    `Cannot put a section into ${RESULTS_PATH}: ${name} is ${facts[name]} here and ${old.facts[name]} there; run all of them`,
  );
}

/** Writes the measured sections. Old sections stay unless they were measured again. */
export async function writeResults(
  root: string,
  given: { facts: Facts; measured: ReadonlyMap<string, string>; order: readonly string[] },
): Promise<void> {
  const { facts, measured, order } = given;
  const { sections: old } = readDocument(await readResults(root));
  const sections = new Map<string, string>();
  for (const name of order) {
    const text = measured.get(name) ?? old.get(name);
    if (text !== undefined) sections.set(name, text);
  }
  await writeFile(join(root, RESULTS_PATH), composeDocument({ facts, sections }, await readNotes(root)));
}

/** Replaces the notes in RESULTS.md with those in `notes/`. */
export async function writeNotes(root: string): Promise<void> {
  const results = readDocument(await readResults(root));
  await writeFile(join(root, RESULTS_PATH), composeDocument(results, await readNotes(root)));
}

async function readResults(root: string): Promise<string> {
  return readFile(join(root, RESULTS_PATH), "utf8").catch(() => "");
}

/** Reads the notes, by section name. */
async function readNotes(root: string): Promise<Record<string, string>> {
  const folder = join(root, FOLDER, "notes");
  const files = await readdir(folder).catch(() => []);
  const notes = files.map(async (file) => [
    basename(file, ".md"),
    await readFile(join(folder, file), "utf8"),
  ]);
  return Object.fromEntries(await Promise.all(notes));
}

export const USAGE = `Usage: bun run bench [--quick | --write] [NAME…]
       bun run bench --notes

Without a name, all benchmarks except citus run and replace RESULTS.md.
That takes less than 25 minutes.

  --write   replaces the sections of the named benchmarks in RESULTS.md
  --quick   runs everything on little data to test the benchmarks; the figures
            mean nothing and are not written
  --notes   updates the notes in RESULTS.md without measuring
  --help    this text
`;

export interface Choice {
  ok: true;
  /** The names of the benchmarks to run; null means all. */
  names: readonly string[] | null;
  isQuick: boolean;
  isWritten: boolean;
  notesOnly: boolean;
}

export interface Refusal {
  ok: false;
  /** The error message; null if help was requested. */
  problem: string | null;
}

/** Parses the arguments; `known` are the names of all benchmarks. */
export function readChoice(args: readonly string[], known: readonly string[]): Choice | Refusal {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        notes: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { quick, write, notes, help } = values;
    if (help) return { ok: false, problem: null };
    const names = positionals.length > 0 ? positionals : null;
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined)
      return refuse(`Cannot run the benchmark "${unknown}": there is none of that name`);
    if (quick && write) return refuse("Cannot write the figures of a quick run: they mean nothing");
    if (notes && (quick || write || names)) return refuse("Cannot take anything beside --notes");
    const isWritten = notes || write || (names === null && !quick);
    return { ok: true, names, isQuick: quick, isWritten, notesOnly: notes };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(problem: string): Refusal {
  return { ok: false, problem };
}
