import { expect, test } from "bun:test";
import { hasSqlState } from "../../../sql/connection/pool.ts";
import { copyImportLines, createImportStage } from "../../../sql/import/import_stage.ts";
import { countStaged } from "../../../sql/import/tracker_import.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";

const INVALID_TEXT = "22P02";
const LINES_PER_CHUNK = 1000;

/** Chunks of 300-byte lines. The line at `brokenAt` is invalid JSON; the source fails before chunk `failsAt`. */
async function* lines(options: { chunks: number; brokenAt?: number; failsAt?: number }) {
  for (let chunk = 0; chunk < options.chunks; chunk++) {
    if (chunk === options.failsAt) throw new Error("the source failed");
    let text = "";
    for (let n = chunk * LINES_PER_CHUNK; n < (chunk + 1) * LINES_PER_CHUNK; n++) {
      text += n === options.brokenAt ? "{oops\n" : `{"n":${n},"text":"${"x".repeat(280)}"}\n`;
    }
    yield Buffer.from(text);
  }
}

/** Stages the lines in a transaction and returns their number; the connection is used again afterwards. */
async function stage(db: TestDatabase, source: AsyncGenerator<Uint8Array, void, void>): Promise<number> {
  try {
    return await db.sql.begin(async (tx) => {
      await createImportStage(tx);
      await copyImportLines(tx, source);
      return countStaged(tx);
    });
  } finally {
    const usable = await Promise.all(Array.from({ length: 8 }, () => db.sql`select 1 as one`));
    expect(usable.map(([row]) => row?.["one"])).toEqual(Array(8).fill(1));
  }
}

test("copyImportLines() stages every line, however many chunks they come in", async () => {
  await using db = await openTestDatabase();
  expect(await stage(db, lines({ chunks: 40 }))).toBe(40 * LINES_PER_CHUNK);
  expect(await stage(db, lines({ chunks: 0 }))).toBe(0);
});

test.each([
  ["the first line", 0],
  ["a line in the middle", 17_500],
  ["the last line", 39_999],
])("copyImportLines() reports that %s is no JSON and leaves the connection usable", async (_, brokenAt) => {
  await using db = await openTestDatabase();
  const error = await stage(db, lines({ chunks: 40, brokenAt })).catch((caught: unknown) => caught);
  expect(hasSqlState(error, INVALID_TEXT)).toBe(true);
});

test.each([0, 1, 20])("copyImportLines() throws what a source throws after %p chunks", async (failsAt) => {
  await using db = await openTestDatabase();
  await expect(stage(db, lines({ chunks: 40, failsAt }))).rejects.toThrow("the source failed");
});

test("copyImportLines() ends when the connection is cut", async () => {
  await using db = await openTestDatabase();
  async function* cutting() {
    yield* lines({ chunks: 2 });
    await db.sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like 'copy import_stage%'`;
    yield* lines({ chunks: 40 });
  }
  // Not with `stage()`: the driver may give the dead connection to its next query.
  const staged = db.sql.begin(async (tx) => {
    await createImportStage(tx);
    await copyImportLines(tx, cutting());
  });
  await expect(staged).rejects.toThrow();
});
