/** Values in the SQL text of exports, which has no parameters because COPY takes none. Ids and times were parsed before. */

/** Returns a text literal. The pool pins `standard_conforming_strings`, so only the quote needs doubling. */
export function literal(value: string): string {
  if (value.includes("\0")) throw new RangeError("Cannot write a literal: the text holds a NUL");
  return `'${value.replaceAll("'", "''")}'`;
}

/** Returns text literals, separated by commas. */
export function literals(values: readonly string[]): string {
  return values.map(literal).join(", ");
}

/** Returns the condition that a row is of the project, whose id is a literal too. It comes first in keys and indexes. */
export function isOfProject(row: string, { projectId }: { projectId: string }): string {
  return `${row}.project_id = ${literal(projectId)}`;
}
