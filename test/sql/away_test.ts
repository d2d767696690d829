import { expect, test } from "bun:test";
import { isDatabaseAway, openPool } from "../../sql/pool.ts";

/** Many more than connections. */
const WAITING = 200;
/** One after the other, with the pause between two tries, they would wait for 100 s. */
const SOON_MS = 10_000;

test("of a database that is away, all who wait are told when one try has failed", async () => {
  // Nobody listens on that port.
  const sql = openPool("postgres://postgres@127.0.0.1:1/none", { applicationName: "test", max: 2 });
  const begun = performance.now();
  const ends = await Promise.allSettled(Array.from({ length: WAITING }, () => sql`select 1`));
  expect(performance.now() - begun).toBeLessThan(SOON_MS);
  expect(ends.filter((end) => end.status === "rejected" && isDatabaseAway(end.reason))).toHaveLength(WAITING);
  await sql.end({ timeout: 1 });
});
