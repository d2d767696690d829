/** Two versions of a definition compared, as `…/diff` answers. */
import { diffFields, diffSections } from "../../shared/definition_diff.ts";
import { classifyChanges, suggestBump } from "../../shared/definition_significance.ts";
import { type DefinitionSource, parseDefinition } from "../../shared/definition_source.ts";
import { unifiedDiff } from "../../shared/unified_diff.ts";
import type { DefinitionRow } from "../../sql/definitions.ts";

export const DIFF_FORMATS = ["sections", "fields", "unified"] as const;

export interface DiffMode {
  format: (typeof DIFF_FORMATS)[number];
  /** Also what is unchanged, and both documents. */
  full: boolean;
}

/** Whether an answer of this mode shows what documents say, and not only where they differ. */
export function showsContent({ format, full }: DiffMode): boolean {
  return full || format !== "sections";
}

/** Everything that the mode has to tell of what makes `to` of `from`. */
export function compareVersions(from: DefinitionRow, to: DefinitionRow, mode: DiffMode): object {
  const [before, after] = [sourceOf(from), sourceOf(to)];
  const { added, removed, modified, unchanged } = diffSections(before, after);
  const shownUnchanged = mode.full ? unchanged : [];
  return {
    fromVersion: from.version,
    toVersion: to.version,
    fromHash: from.hash,
    toHash: to.hash,
    hasChanges: added.length + removed.length + modified.length > 0,
    fromPromptHash: from.promptHash,
    toPromptHash: to.promptHash,
    hasPromptChanges: from.promptHash !== to.promptHash,
    fromLineCount: countLines(from.yaml),
    toLineCount: countLines(to.yaml),
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
    ...(mode.format === "unified" ? { unified: unifiedDiff(from.yaml, to.yaml, fileNameOf(to)) } : {}),
    ...(mode.full ? { fromYaml: from.yaml, toYaml: to.yaml } : {}),
  };
}

function compareFields(from: DefinitionSource, to: DefinitionSource, { full }: DiffMode) {
  const { fields, summary } = diffFields(from, to, { full });
  const classified = classifyChanges(fields);
  return { fields, summary, classified, suggestedBump: suggestBump(classified) };
}

/** What was stored was read here before. */
function sourceOf(row: DefinitionRow): DefinitionSource {
  const parsed = parseDefinition(row.yaml, { type: row.type });
  if (!parsed.ok) throw new Error(`Cannot read the document of definition ${row.id}, which is stored`);
  return parsed.source;
}

/** As editors count: a line break at the end begins no other line. */
function countLines(text: string): number {
  const breaks = text.split("\n").length - 1;
  return text.endsWith("\n") ? breaks : breaks + 1;
}

function fileNameOf({ type, name }: DefinitionRow): string {
  return `${name}.${type}.yaml`;
}
