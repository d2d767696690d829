/** The files of the repository, without installed packages. */
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

/** Lists the files that match a glob pattern, relative to the root, sorted. */
export async function listFiles(pattern: string): Promise<string[]> {
  const paths = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: ROOT }));
  return paths.filter((path) => !path.includes("node_modules/")).toSorted();
}
