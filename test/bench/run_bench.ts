/** `bun run bench`: runs the benchmarks that are named, or all, and writes RESULTS.md. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Command } from "../../shared/stack/bootstrap.ts";
import { elapsed } from "../../shared/stack/progress.ts";
import { settlesWithin, untilAborted } from "../../shared/stack/wait.ts";
import { openTestServer } from "../helpers/server.ts";
import { FULL_SIZES, QUICK_SIZES } from "./bench_run.ts";
import { SECTIONS, type Section } from "./sections.ts";

const FOLDER = "test/bench";
/** All of them take some twenty minutes on two cores. */
const RUN_LIMIT_MS = 35 * 60_000;
/** How long a benchmark may take to stop its processes. */
const GRACE_MS = 15_000;

const USAGE = `Usage: bun run bench [--quick] [--write] [NAME…]

Without a name all benchmarks run, which takes some twenty minutes, and ${FOLDER}/RESULTS.md is written anew.

  --write   puts the sections of the named ones into the document, in the place of the old ones
  --quick   everything in small, to see whether it works: the figures mean nothing, and nothing is written

Names: ${Object.keys(SECTIONS).join(", ")}
`;

interface Choice {
  /** `null` for all. */
  names: readonly string[] | null;
  isQuick: boolean;
  isWritten: boolean;
}

/** Returns the exit code: 2 when the arguments cannot be meant. */
export async function runBench(command: Command): Promise<number> {
  const choice = readChoice(command.args);
  if (typeof choice === "string") {
    process.stderr.write(`${choice}\n\n${USAGE}`);
    return 2;
  }
  const signal = AbortSignal.any([command.stop, AbortSignal.timeout(RUN_LIMIT_MS)]);
  const names = choice.names ?? Object.keys(SECTIONS);
  const rendered = new Map<string, string>();
  const failed: string[] = [];
  for (const name of names) {
    const section = SECTIONS[name];
    if (!section) continue;
    try {
      const text = await runSection({ command, signal, isQuick: choice.isQuick }, { name, section });
      process.stdout.write(`\n${text}\n\n`);
      rendered.set(name, text);
    } catch (error) {
      signal.throwIfAborted();
      failed.push(name);
      process.stderr.write(`${name} failed: ${Bun.inspect(error)}\n`);
    }
  }
  if (failed.length > 0) {
    process.stderr.write(`Nothing is written: ${failed.join(", ")} failed\n`);
    return 1;
  }
  if (choice.isWritten) await writeResults(command, { rendered, isWhole: choice.names === null });
  return 0;
}

/** What the arguments ask for, or what is wrong with them. */
function readChoice(args: readonly string[]): Choice | string {
  const options = {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const unknown = positionals.find((name) => !Object.hasOwn(SECTIONS, name));
    if (unknown !== undefined) return `Cannot run the benchmark "${unknown}": there is none of that name`;
    const isWhole = positionals.length === 0;
    if (values.quick && values.write) return "Cannot write figures of a quick run: they mean nothing";
    return {
      names: isWhole ? null : positionals,
      isQuick: values.quick,
      isWritten: values.write || (isWhole && !values.quick),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Runs one benchmark on a server of its own, and returns its section. */
async function runSection(
  given: { command: Command; signal: AbortSignal; isQuick: boolean },
  { name, section }: { name: string; section: Section },
): Promise<string> {
  const { command, signal, isQuick } = given;
  // What follows needs packages, which are there by now.
  const { renderSection } = await import("./results_document.ts");
  const { currentLoad } = await import("./machine.ts");
  const measuredAt = new Date();
  const loadBefore = currentLoad();
  const startedAt = performance.now();
  process.stderr.write(`── ${name}: ${section.title}\n`);
  await using server = await untilAborted(openTestServer(command), signal);
  const bench = await section.load();
  const sizes = isQuick ? QUICK_SIZES : FULL_SIZES;
  const ended = bench({ command, serverUrl: server.url, sizes, signal });
  try {
    const tables = await untilAborted(ended, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    const notes = await readFile(join(command.root, FOLDER, "notes", `${name}.md`), "utf8").catch(() => "");
    const { title, about } = section;
    return renderSection({ name, title, about, measuredAt, seconds, loadBefore, tables, notes });
  } finally {
    await settlesWithin(ended, GRACE_MS);
    process.stderr.write(`── ${name}: ${elapsed(startedAt)}\n`);
  }
}

/** Writes the document; throws when the sections that stay in it are of another machine. */
async function writeResults(
  command: Command,
  { rendered, isWhole }: { rendered: ReadonlyMap<string, string>; isWhole: boolean },
): Promise<void> {
  const { composeDocument, mergeSections } = await import("./results_document.ts");
  const { describeMachine } = await import("./machine.ts");
  await using server = await untilAborted(openTestServer(command), command.stop);
  const facts = await describeMachine(command, server.url);
  const path = join(command.root, FOLDER, "RESULTS.md");
  const old = isWhole ? "" : await readFile(path, "utf8").catch(() => "");
  const sections = mergeSections({ old, facts, rendered, order: Object.keys(SECTIONS) });
  await writeFile(path, composeDocument(facts, sections));
  process.stdout.write(`Written: ${path}\n`);
}
