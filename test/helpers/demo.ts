/** A demo with few issues. It has everything else and takes a fraction of the time. */
import { join } from "node:path";
import { seedDemo } from "../../api/admin/demo/seed.ts";
import type { Pool } from "../../sql/connection/pool.ts";

/** One issue in a hundred: 200. Written by `bun run demo`. */
export const SMALL_DEMO_FILE = join(import.meta.dir, "../fixtures/small_demo.zip");

/** Seeds a small demo, or continues one that was interrupted. Returns what `demo seed --json` prints. */
export async function seedSmallDemo(sql: Pool, scale = 1): Promise<Readonly<Record<string, unknown>>> {
  const context = { sql, config: { publicUrl: "http://localhost:3000" }, progress() {} };
  const options = { scale, ifEmpty: false, credentialsFile: undefined, file: SMALL_DEMO_FILE };
  return (await seedDemo(context, options)).json;
}
