/** Text that PostgreSQL cannot keep is refused before anything is written. */
import { type Problem, refuseInput } from "../validation_problems.ts";

/**
 * Throws VALIDATION_ERROR when a text anywhere in a JSON body holds NUL, or half of a surrogate pair. Leave documents
 * out of it: their parser refuses the same, and says in which line.
 */
export function refuseUnstorable(body: unknown): void {
  const problems: Problem[] = [];
  collect(body, "", problems);
  if (problems.length > 0) throw refuseInput(problems);
}

function collect(value: unknown, path: string, problems: Problem[]): void {
  if (typeof value === "string") {
    if (value.includes("\0")) problems.push({ path, message: "must not contain the character NUL" });
    else if (!value.isWellFormed()) problems.push({ path, message: "must be well-formed Unicode text" });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) collect(inner, path ? `${path}.${key}` : key, problems);
}
