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
  /** The old and the new text. */
  from: string;
  to: string;
  mode: DiffMode;
}

/**
 * The differences as JSON, which is passed on without parsing. Or the problems of a text that does not parse: an earlier
 * release may have stored what this one refuses.
 */
export type DocumentComparison =
  | { ok: true; json: string }
  | { ok: false; invalid: "from" | "to"; problems: DefinitionProblem[] };

/** Returns the differences between `from` and `to`, in the form that the mode asks for. */
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

/** Counts lines as editors do: a final line break starts no new line. */
function countLines(text: string): number {
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

/** Lines of context around a change, as in git. */
const CONTEXT_LINES = 3;
/**
 * Maximum edit distance. The cost is quadratic in the number of different lines, and a diff of texts that differ more is
 * of no use.
 */
const MAX_DIFFERING_LINES = 1_000;

/**
 * Returns a patch from `from` to `to` that `git apply` accepts, for a file of this name. Empty if the texts are equal.
 * Texts with few lines in common are replaced as a whole.
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
