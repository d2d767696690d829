/** Splits a YAML stream into its documents. */

/** A document and the line of the stream at which its text begins, from 1. */
export interface StreamedDocument {
  yaml: string;
  firstLine: number;
}

/** In the first column, these end any document: YAML allows them inside no text and no block. */
const MARKER = /^(?:---|\.\.\.)(?=[ \t\r]|$)/;
const BARE_MARKER = /^(?:---|\.\.\.)[ \t\r]*(?:#[^\n]*)?$/;
/** Blank lines, comments and directives. */
const NO_CONTENT = /^(?:\s*(?:#[^\n]*)?|%[^\n]*)$/;

/**
 * Returns the documents, without their markers. Empty documents are left out. Comments and directives before a marker belong
 * to the document that follows.
 */
export function splitStream(text: string): StreamedDocument[] {
  const documents: StreamedDocument[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  let hasContent = false;
  const startAt = (line: number): void => {
    [lines, firstLine, hasContent] = [[], line, false];
  };
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    const isMarker = MARKER.test(line);
    const isBare = isMarker && BARE_MARKER.test(line);
    if (isMarker && hasContent) {
      documents.push({ yaml: `${lines.join("\n")}\n`, firstLine });
      startAt(index + 1);
    }
    const isPreamble = lines.some((before) => before.trim() !== "");
    if (isBare && (line.startsWith(".") || !isPreamble)) {
      startAt(index + 2);
      continue;
    }
    lines.push(line);
    hasContent ||= !isBare && !NO_CONTENT.test(line);
  }
  if (hasContent) documents.push({ yaml: lines.join("\n"), firstLine });
  return documents;
}
