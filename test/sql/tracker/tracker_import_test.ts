import { expect, test } from "bun:test";
import {
  clearImportStage,
  createImportStage,
  insertImportLines,
} from "../../../sql/tracker/tracker_import.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

test("insertImportLines() keeps every line unchanged, and clearImportStage() deletes the lines", async () => {
  await using db = await openTestDatabase();
  const lines = Array.from(
    { length: 2500 },
    (_, n) => `{"n": ${n}.10, "text":"\\t\\\\. ' é 🚀 \u2028", "n":1}`,
  );
  await db.sql.begin(async (tx) => {
    await createImportStage(tx);
    await insertImportLines(tx, lines.slice(0, 2000));
    await insertImportLines(tx, lines.slice(2000));
    const staged = await tx<{ doc: string }[]>`select doc::text as doc from import_stage`;
    expect(staged.map(({ doc }) => doc).sort()).toEqual(lines.toSorted());
    await clearImportStage(tx);
    expect(await tx`select from import_stage`).toHaveLength(0);
  });
});

test("insertImportLines() rejects a line that is not JSON", async () => {
  await using db = await openTestDatabase();
  const staged = db.sql.begin(async (tx) => {
    await createImportStage(tx);
    await insertImportLines(tx, ["{}", "{oops"]);
  });
  await expect(staged).rejects.toThrow("invalid input syntax for type json");
});
