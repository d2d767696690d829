/** The directories of an organization export: one per project, unique on every file system. */
import { sanitizeProjectName } from "../shared/exports/file_names.ts";

const SHORT_ID_LENGTH = 8;

/**
 * Returns the directory of each project by its id: `{sanitizedProjectName}__{first8OfProjectId}`. If two would be
 * equal, ignoring case, both get the whole id.
 */
export function nameDirectories(
  projects: readonly { id: string; name: string }[],
): ReadonlyMap<string, string> {
  const named = projects.map(({ id, name }) => {
    const stem = sanitizeProjectName(name);
    return { id, stem, short: `${stem}__${id.slice(0, SHORT_ID_LENGTH)}` };
  });
  const uses = new Map<string, number>();
  for (const { short } of named) uses.set(short.toLowerCase(), (uses.get(short.toLowerCase()) ?? 0) + 1);
  return new Map(
    named.map(({ id, stem, short }) => [id, uses.get(short.toLowerCase()) === 1 ? short : `${stem}__${id}`]),
  );
}
