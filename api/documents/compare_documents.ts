/** Compares two documents for `…/diff`. */
import { diffFields, diffSections } from "../../shared/definitions/diff.ts";
import { type DefinitionSource, parseDefinition } from "../../shared/definitions/parse_definition.ts";
import { classifyChanges, suggestBump } from "../../shared/definitions/significance.ts";
import type { DefinitionType } from "../../shared/vocabulary.ts";
import { unifiedDiff } from "./unified_diff.ts";

export const DIFF_FORMATS = ["sections", "fields", "unified"] as const;

export interface DiffMode {
  format: (typeof DIFF_FORMATS)[number];
  /** Includes unchanged sections or fields. */
  full: boolean;
}

interface ComparedDocuments {
  type: DefinitionType;
  name: string;
  /** The old and the new text; both have parsed before. */
  from: string;
  to: string;
  mode: DiffMode;
}

/** Returns the differences between `from` and `to`, in the form that the mode asks for. */
export function compareDocuments({ type, name, from, to, mode }: ComparedDocuments): object {
  const before = sourceOf(from, type);
  const after = from === to ? before : sourceOf(to, type);
  const { added, removed, modified, unchanged } = diffSections(before, after);
  const shownUnchanged = mode.full ? unchanged : [];
  return {
    hasChanges: added.length + removed.length + modified.length > 0,
    fromLineCount: countLines(from),
    toLineCount: countLines(to),
    sectionsAdded: added,
    sectionsRemoved: removed,
    sectionsModified: modified,
    sectionsUnchanged: shownUnchanged,
    ...(mode.format === "fields"
      ? {
          ...compareFields(before, after, mode),
          sections: { added, removed, modified, unchanged: shownUnchanged },
        }
      : {}),
    ...(mode.format === "unified" ? { unified: unifiedDiff(from, to, `${name}.${type}.yaml`) } : {}),
  };
}

function compareFields(from: DefinitionSource, to: DefinitionSource, { full }: DiffMode) {
  const { fields, summary } = diffFields(from, to, { full });
  const classified = classifyChanges(fields);
  return { fields, summary, classified, suggestedBump: suggestBump(classified) };
}

function sourceOf(yaml: string, type: DefinitionType): DefinitionSource {
  const parsed = parseDefinition(yaml, { type });
  if (!parsed.ok) throw new Error(`Cannot compare a document that does not read as ${type}`);
  return parsed.source;
}

/** Counts lines as editors do: a final line break starts no new line. */
function countLines(text: string): number {
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}
