/** Rejects text that PostgreSQL cannot store, before anything is written. */
import { type Problem, rejectProblems } from "./validation_problems.ts";

/**
 * Throws VALIDATION_ERROR if a text in these fields contains NUL or an unpaired surrogate. Pass only fields that are stored:
 * unknown keys are ignored, and the YAML parser makes the same check with line numbers.
 */
export function rejectUnstorable(fields: Readonly<Record<string, unknown>>): void {
  rejectProblems(findUnstorable(fields));
}

/** Returns a problem for each text that PostgreSQL cannot store. */
export function findUnstorable(fields: object): Problem[] {
  const problems: Problem[] = [];
  collect(fields, "", problems);
  return problems;
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
