/** `bun run bench`: runs the benchmarks that are named, or all, and writes RESULTS.md. */
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Command } from "../../deploy/local/bootstrap.ts";
import { installDependencies } from "../../deploy/local/install.ts";
import { elapsed } from "../../deploy/local/progress.ts";
import { openSupervisor } from "../../deploy/local/supervisor.ts";
import { settlesWithin, untilAborted } from "../../deploy/local/wait.ts";
import { openTestServer } from "../helpers/postgres/server.ts";
import { FULL_SIZES, QUICK_SIZES } from "./bench_run.ts";
import { type Choice, readChoice, USAGE } from "./choice.ts";
import { type Facts, renderSection } from "./results_document.ts";
import { RESULTS_PATH, requireSameMachine, writeNotes, writeResults } from "./results_file.ts";
import { SECTIONS, type Section } from "./sections.ts";

/** All of them take some twenty minutes on two cores. */
const RUN_LIMIT_MS = 30 * 60_000;
/** How long a benchmark may take to stop its processes. */
const GRACE_MS = 15_000;

/** Returns the exit code: 1 when a benchmark failed, and nothing is written; 2 when the arguments cannot be meant. */
export async function runBench(command: Command): Promise<number> {
  const choice = readChoice(command.args, Object.keys(SECTIONS));
  if (!choice.ok) {
    const usage = `${USAGE}\nNames: ${Object.keys(SECTIONS).join(", ")}\n`;
    if (choice.problem === null) process.stdout.write(usage);
    else process.stderr.write(`${choice.problem}\n\n${usage}`);
    return choice.problem === null ? 0 : 2;
  }
  await installPeers(command);
  if (choice.notesOnly) await writeNotes(command.root);
  else if (!(await measure(command, choice))) return 1;
  if (choice.isWritten) process.stdout.write(`Written: ${RESULTS_PATH}\n`);
  return 0;
}

/** Installs what the measured code is compared with. It is no dependency of the service. */
async function installPeers(command: Command): Promise<void> {
  await using supervisor = openSupervisor(command);
  const root = join(command.root, "test/bench");
  await untilAborted(installDependencies({ ...command, supervisor, root }), command.stop);
}

/** Measures, prints, and writes if that was asked for; false when a benchmark failed. */
async function measure(command: Command, { names, isQuick, isWritten }: Choice): Promise<boolean> {
  const signal = AbortSignal.any([command.stop, AbortSignal.timeout(RUN_LIMIT_MS)]);
  const loadBefore = currentLoad();
  const facts = isWritten ? await readFacts(command, signal) : {};
  // Before it has taken minutes.
  if (isWritten && names !== null) await requireSameMachine(command.root, facts);
  const order = Object.keys(SECTIONS);
  const measured = new Map<string, string>();
  const failed: string[] = [];
  for (const name of names ?? order.filter((each) => !SECTIONS[each]?.isOnRequest)) {
    const section = SECTIONS[name];
    if (!section) continue;
    try {
      const text = await runSection({ command, signal, isQuick, loadBefore }, { name, section });
      process.stdout.write(`\n${text}\n\n`);
      measured.set(name, text);
    } catch (error) {
      signal.throwIfAborted();
      failed.push(name);
      process.stderr.write(`${name} failed: ${Bun.inspect(error)}\n`);
    }
  }
  if (failed.length > 0) process.stderr.write(`Failed: ${failed.join(", ")}; nothing is written\n`);
  else if (isWritten) await writeResults(command.root, { facts, measured, order });
  return failed.length === 0;
}

async function readFacts(command: Command, signal: AbortSignal): Promise<Facts> {
  // The driver is among the packages, which are there by now.
  const { describeMachine } = await import("./machine.ts");
  await using server = await untilAborted(openTestServer(command), signal);
  return await describeMachine(command, server.url);
}

/** Mean number of processes that ran or waited for a processor in the last minute. */
function currentLoad(): number {
  const [lastMinute = Number.NaN] = loadavg();
  return lastMinute;
}

interface SectionRun {
  command: Command;
  signal: AbortSignal;
  isQuick: boolean;
  loadBefore: number;
}

/** Runs one benchmark on a server of its own, and returns its section. */
async function runSection(
  { command, signal, isQuick, loadBefore }: SectionRun,
  { name, section }: { name: string; section: Section },
): Promise<string> {
  const { title, about, load } = section;
  const measuredAt = new Date();
  const startedAt = performance.now();
  process.stderr.write(`── ${name}: ${title}\n`);
  await using server = await untilAborted(openTestServer(command, { onDisk: true }), signal);
  const bench = await load();
  const sizes = isQuick ? QUICK_SIZES : FULL_SIZES;
  const ended = bench({ command, serverUrl: server.url, sizes, signal });
  try {
    const tables = await untilAborted(ended, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    return renderSection({ name, title, about, measuredAt, seconds, loadBefore, tables });
  } finally {
    await settlesWithin(ended, GRACE_MS);
    process.stderr.write(`── ${name}: ${elapsed(startedAt)}\n`);
  }
}
