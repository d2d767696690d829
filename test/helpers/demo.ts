/** Seeds a demo that is complete except for fewer issues, and takes a fraction of the time. */
import { join } from "node:path";
import { seedDemo } from "../../api/admin/demo/seed.ts";
import type { Pool } from "../../sql/connection/pool.ts";

/** The bundle of the small demo: 200 issues, one in a hundred. Written by `bun run demo`. */
export const SMALL_DEMO_FILE = join(import.meta.dir, "../fixtures/small_demo.zip");

/** Seeds a small demo, or resumes an interrupted one. Returns the JSON that `demo seed --json` prints. */
export async function seedSmallDemo(sql: Pool, scale = 1): Promise<Readonly<Record<string, unknown>>> {
  const context = { sql, config: { publicUrl: "http://localhost:3000" }, progress() {} };
  const options = { scale, ifEmpty: false, credentialsFile: undefined, file: SMALL_DEMO_FILE };
  return (await seedDemo(context, options)).json;
}
