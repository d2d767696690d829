/** The lines between `---` and `---` that say to a coding agent what the file is. */
import { collapse } from "./inline.ts";

export type FrontMatter = readonly (readonly [key: string, value: string | null])[];

/** Values are JSON strings, which are YAML too; those that are `null` are left out. */
export function renderFrontMatter(values: FrontMatter): string {
  const lines = values.flatMap(([key, value]) => (value === null ? [] : [`${key}: ${quote(value)}`]));
  return ["---", ...lines, "---", ""].join("\n");
}

/**
 * Returns a rendered file without the `version` line of its front matter. Every agent carries its own version, so two
 * renderings of the same text differ in that line.
 */
export function withoutVersion(markdown: string): string {
  const end = markdown.indexOf("\n---\n") + 1;
  return markdown.slice(0, end).replace(/^version: .*\n/m, "") + markdown.slice(end);
}

/** One line: white space is collapsed before, so no reader finds a line break in it. */
function quote(value: string): string {
  return JSON.stringify(collapse(value));
}
