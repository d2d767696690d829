/** Compares two documents for `…/diff`. */

import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch } from "diff";
import { diffFields, diffSections } from "../../shared/definitions/diff.ts";
import { type DefinitionSource, parseDefinition } from "../../shared/definitions/parse_definition.ts";
import { classifyChanges, suggestBump } from "../../shared/definitions/significance.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import type { DefinitionProblem } from "../../shared/yaml/problems.ts";

export const DIFF_FORMATS = ["sections", "fields", "unified"] as const;

export interface DiffMode {
  format: (typeof DIFF_FORMATS)[number];
  /** Includes unchanged sections or fields. */
  full: boolean;
}

interface ComparedDocuments {
  type: DefinitionType;
  name: string;
  from: string;
  to: string;
  mode: DiffMode;
}

/**
 * The differences as JSON text, which is passed on unparsed, or the problems of an invalid text. An earlier release may have
 * stored a text that this release rejects.
 */
export type DocumentComparison =
  | { ok: true; json: string }
  | { ok: false; invalid: "from" | "to"; problems: DefinitionProblem[] };

/** Compares `from` and `to` and returns the differences in the format of `mode`. */
export function compareDocuments({ type, name, from, to, mode }: ComparedDocuments): DocumentComparison {
  const before = parseDefinition(from, { type });
  if (!before.ok) return { ok: false, invalid: "from", problems: before.problems };
  const after = from === to ? before : parseDefinition(to, { type });
  if (!after.ok) return { ok: false, invalid: "to", problems: after.problems };
  const { added, removed, modified, unchanged: same } = diffSections(before.source, after.source);
  const unchanged = mode.full ? same : [];
  const changes = {
    hasChanges: added.length + removed.length + modified.length > 0,
    fromLineCount: countLines(from),
    toLineCount: countLines(to),
    sectionsAdded: added,
    sectionsRemoved: removed,
    sectionsModified: modified,
    sectionsUnchanged: unchanged,
    ...(mode.format === "fields"
      ? {
          ...compareFields(before.source, after.source, mode),
          sections: { added, removed, modified, unchanged },
        }
      : {}),
    ...(mode.format === "unified" ? { unified: unifiedDiff(from, to, `${name}.${type}.yaml`) } : {}),
  };
  return { ok: true, json: JSON.stringify(changes) };
}

function compareFields(from: DefinitionSource, to: DefinitionSource, { full }: DiffMode) {
  const { fields, summary } = diffFields(from, to, { full });
  const classified = classifyChanges(fields, { from, to });
  return { fields, summary, classified, suggestedBump: suggestBump(classified) };
}

/** Counts the lines of a text. A final line break does not start a new line. */
function countLines(text: string): number {
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

/** Lines of context around a change, as in git. */
const CONTEXT_LINES = 3;
/** Maximum edit distance. The cost is quadratic in the number of differing lines, and a larger diff is of no use. */
const MAX_DIFFERING_LINES = 1_000;

/**
 * Returns a patch that `git apply` accepts and that changes `from` to `to` in the given file. Returns an empty string for equal
 * texts. Texts with too few lines in common are replaced as a whole.
 */
export function unifiedDiff(from: string, to: string, file: string): string {
  if (from === to) return "";
  const [before, after] = [`a/${file}`, `b/${file}`];
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_DIFFERING_LINES };
  const patch =
    structuredPatch(before, after, from, to, undefined, undefined, options) ??
    replaceAll(before, after, { from, to });
  return `diff --git ${before} ${after}\n${formatPatch(patch, FILE_HEADERS_ONLY)}`;
}

function replaceAll(
  before: string,
  after: string,
  { from, to }: { from: string; to: string },
): StructuredPatch {
  const removed = toLines(from, "-");
  const added = toLines(to, "+");
  const count = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("\\")).length;
  const hunk = {
    oldStart: 1,
    oldLines: count(removed),
    newStart: 1,
    newLines: count(added),
    lines: [...removed, ...added],
  };
  return {
    oldFileName: before,
    newFileName: after,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [hunk],
  };
}

function toLines(text: string, sign: "-" | "+"): string[] {
  const lines = text.split("\n").map((line) => sign + line);
  if (!text.endsWith("\n")) return [...lines, "\\ No newline at end of file"];
  return lines.slice(0, -1);
}
