import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { openPool } from "../../../sql/connection/pool.ts";
import { registerPoolMetrics } from "../../../sql/monitoring/pool_metrics.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

test("reports the connections and waiting queries of a pool", async () => {
  await using db = await openTestDatabase();
  const pool = openPool(db.url, { applicationName: "test", max: 2 });
  const registry = new Registry();
  registerPoolMetrics(registry, { own: pool });
  const read = async () => {
    const text = await registry.metrics();
    return ["connections_in_use", "queries_waiting", "connections_max"].map((name) =>
      Number(new RegExp(`^database_pool_${name}\\{pool="own"\\} (\\d+)$`, "m").exec(text)?.[1]),
    );
  };
  expect(await read()).toEqual([0, 0, 2]);
  const held = Promise.withResolvers<void>();
  const transactions = Array.from({ length: 3 }, () => pool.begin(() => held.promise));
  await waitFor(async () => Bun.deepEquals(await read(), [2, 1, 2]));
  held.resolve();
  await Promise.all(transactions);
  await waitFor(async () => Bun.deepEquals(await read(), [0, 0, 2]));
  await pool.end({ timeout: 1 });
});
