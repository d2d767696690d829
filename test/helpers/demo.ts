/** Seeds a small demo, which takes a fraction of the usual time. It has few issues but is otherwise complete. */
import { join } from "node:path";
import { seedDemo } from "../../api/admin/demo/seed.ts";
import type { Pool } from "../../sql/connection/pool.ts";

/** The bundle of the small demo, with 200 issues: one in a hundred of the demo's issues. `bun run demo` writes it. */
export const SMALL_DEMO_FILE = join(import.meta.dir, "../fixtures/small_demo.zip");

/** Seeds a small demo, or resumes an interrupted seeding. Returns the JSON that `demo seed --json` prints. */
export async function seedSmallDemo(sql: Pool, scale = 1): Promise<Readonly<Record<string, unknown>>> {
  const context = { sql, config: { publicUrl: "http://localhost:3000" }, progress() {} };
  const options = { scale, ifEmpty: false, credentialsFile: undefined, file: SMALL_DEMO_FILE };
  return (await seedDemo(context, options)).json;
}
