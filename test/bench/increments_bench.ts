/** `bun run bench increments`: what change tracking costs a tracker, and an increment against the full export. */
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import type { BenchRun } from "./bench_run.ts";
import { makeBenchProject } from "./export_data.ts";
import { type FigureTable, figure } from "./figures.ts";
import { measureInTurn } from "./measure.ts";
import { writeRun } from "./tracker_writer.ts";

/** Issue 16. */
const WRITER_GOAL = { atMost: 1.15 };
const RUNS = 40;

export async function benchIncrements(run: BenchRun): Promise<FigureTable[]> {
  return [await benchWriter(run)];
}

/** Two databases that differ in the triggers and indexes of increments alone. */
async function benchWriter(run: BenchRun): Promise<FigureTable> {
  await using tracked = await openWriterDatabase(run);
  await using plain = await openWriterDatabase(run);
  await dropTracking(plain.db);
  const read = await measureInTurn(run, "a tracker that writes runs", {
    rounds: run.sizes.loadRounds,
    tasks: { tracked: () => tracked.write(), plain: () => plain.write() },
  });
  const ratio = read.tracked.seconds / read.plain.seconds;
  const ms = (seconds: number): string => ((1000 * seconds) / RUNS).toFixed(1);
  return {
    title: "A tracker's transaction of 275 rows, with and without change tracking",
    header: ["", "with, ms", "without, ms", "with ÷ without"],
    rows: [["a run", ms(read.tracked.seconds), ms(read.plain.seconds), figure(ratio, 2, WRITER_GOAL)]],
  };
}

async function openWriterDatabase({ serverUrl, sizes }: BenchRun) {
  const db = await openTestDatabase(serverUrl);
  const make = createFactory(db.sql);
  const person = await make.person();
  const project = await makeBenchProject({ db, make, person }, sizes.projectIssues, true);
  await db.owner`vacuum analyze`;
  let number = 1000;
  return {
    db,
    async write() {
      const begun = performance.now();
      for (const end = number + RUNS; number < end; number += 1) await writeRun(db.sql, project.id, number);
      return { seconds: (performance.now() - begun) / 1000 };
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

/** Removes the triggers and indexes that only increments need. */
async function dropTracking({ owner }: TestDatabase): Promise<void> {
  const statements = await owner<{ text: string }[]>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as text
    from pg_trigger
    where tgname ~ '_log_[a-z]+_trigger$'
    union all
    select format('drop index %s', indexrelid::regclass)
    from pg_index
    where indexrelid::regclass::text ~ '^tracker_changes_'`;
  for (const { text } of statements) await owner.unsafe(text);
}
