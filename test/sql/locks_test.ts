/** Tests that advisory locks are defined in one file and have unique numbers. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { LOCKS } from "../../sql/locks.ts";

const ROOT = join(import.meta.dir, "../..");
const HERE = "test/sql/locks_test.ts";
/** Names of the locks that trigger functions take. A lock's key is the hash of its name. */
const TRIGGER_LOCKS = ["definition_listings"];

async function readTexts(pattern: string): Promise<{ path: string; text: string }[]> {
  return Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }), async (path) => ({
    path,
    text: await Bun.file(join(ROOT, path)).text(),
  }));
}

test("gives each lock a different number", () => {
  const numbers = Object.values(LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("takes and numbers advisory locks only in sql/locks.ts", async () => {
  const sources = await readTexts("{shared,sql,api,jobs,catalog-sync,test}/**/*.ts");
  const taking = sources.filter(({ text }) => /pg_(?:try_)?advisory_\w*lock|\b7_?311_?\d{3}\b/.test(text));
  expect(taking.map(({ path }) => path).filter((path) => path !== HERE)).toEqual(["sql/locks.ts"]);
});

test("takes only known locks in the schema's functions", async () => {
  const [schema] = await readTexts("sql/schema.sql");
  const calls = schema?.text.match(/pg_(?:try_)?advisory_\w*lock\w*\((?:[^()]|\([^()]*\))*\)/g) ?? [];
  const known = TRIGGER_LOCKS.map((name) => `pg_advisory_xact_lock(hashtextextended('${name}', 0))`);
  expect(calls.filter((call) => !known.includes(call))).toEqual([]);
});
