/** The format of a definition that is read: JSON, its Markdown, or its YAML. */

/** Formats by the ending of the address. */
export const READ_FORMATS = {
  md: { mediaType: "text/markdown", contentType: "text/markdown; charset=utf-8", text: "runtimeMd" },
  yaml: { mediaType: "application/yaml", contentType: "application/yaml", text: "yaml" },
} as const;

export type TextFormat = keyof typeof READ_FORMATS;

const ENDING = /^(.+)\.(md|yaml)$/s;

/**
 * Splits the ending from the name in a path: `reviewer@1.0.0.md` is `reviewer@1.0.0` as Markdown. No name, version or id ends
 * like that, so addresses are unambiguous.
 */
export function splitEnding(name: string): { name: string; ending: TextFormat | null } {
  const [, bare, ending] = ENDING.exec(name) ?? [];
  if (bare === undefined) return { name, ending: null };
  return { name: bare, ending: ending === "md" ? "md" : "yaml" };
}

/**
 * Returns the text format that an `Accept` header names, or null for JSON. Wildcards are JSON. Of several named types the
 * one with the highest weight counts, of equal ones the first.
 */
export function acceptedFormat(accept: string | null): TextFormat | null {
  let best: { format: TextFormat | null; weight: number } = { format: null, weight: 0 };
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const format = type === "application/json" ? null : formatOf(type);
    const weight = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    if (format !== undefined && weight > best.weight) best = { format, weight };
  }
  return best.format;
}

function formatOf(mediaType: string): TextFormat | undefined {
  const formats = ["md", "yaml"] as const;
  return formats.find((format) => READ_FORMATS[format].mediaType === mediaType);
}
