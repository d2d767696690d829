/** Writes files under a name ending in `.part`, and renames them when they are complete and synced. */
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

export const PART_ENDING = ".part";

/** Returns a unique name, so that writers never use the same file. */
export function partPathOf(path: string): string {
  return `${path}.${crypto.randomUUID()}${PART_ENDING}`;
}

/** Renames a synced part to its final name, and syncs the directory. */
export async function keepPart(part: string, path: string): Promise<void> {
  await rename(part, path);
  await using directory = await open(dirname(path), "r");
  await directory.sync();
}
