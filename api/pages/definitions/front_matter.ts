/** The front matter of a rendered definition. The translator writes each value as one line of JSON. */

/** Returns the texts of the front matter by key; none for Markdown without one. */
export function readFrontMatter(markdown: string): Readonly<Record<string, string>> {
  const end = markdown.startsWith("---\n") ? markdown.indexOf("\n---\n") : -1;
  const lines = end === -1 ? [] : markdown.slice("---\n".length, end).split("\n");
  return Object.fromEntries(lines.flatMap(readLine));
}

function readLine(line: string): [string, string][] {
  const [, key = "", json = ""] = /^([\w-]+): (".*")$/.exec(line) ?? [];
  try {
    return key === "" ? [] : [[key, String(JSON.parse(json))]];
  } catch {
    return [];
  }
}
