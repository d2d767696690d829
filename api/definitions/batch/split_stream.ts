/** Splits a YAML stream into its documents. */
import { yieldEventLoop } from "../../http/yield_event_loop.ts";

/** A document and the line of the stream at which its text begins, from 1. */
interface StreamedDocument {
  yaml: string;
  firstLine: number;
}

/** In the first column, these end any document: YAML allows them inside no text and no block. */
const MARKER = /^(?:---|\.\.\.)(?=[ \t\r]|$)/;
const BARE_MARKER = /^(?:---|\.\.\.)[ \t\r]*(?:#[^\n]*)?$/;
/** Blank lines, comments and directives. */
const NO_CONTENT = /^(?:\s*(?:#[^\n]*)?|%[^\n]*)$/;

/** Lines that are read in one turn of the event loop: a few milliseconds. */
const LINES_PER_TURN = 20_000;

/**
 * Returns the documents, without their markers. Empty documents are left out. Comments and directives before a marker belong
 * to the document that follows.
 */
export async function splitStream(text: string): Promise<StreamedDocument[]> {
  const documents: StreamedDocument[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  let hasContent = false;
  /** Whether a line is not blank. */
  let hasText = false;
  const startAt = (line: number): void => {
    [lines, firstLine, hasContent, hasText] = [[], line, false, false];
  };
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await yieldEventLoop();
    const isMarker = MARKER.test(line);
    const isBare = isMarker && BARE_MARKER.test(line);
    if (isMarker && hasContent) {
      documents.push({ yaml: `${lines.join("\n")}\n`, firstLine });
      startAt(index + 1);
    }
    if (isBare && (line.startsWith(".") || !hasText)) {
      startAt(index + 2);
      continue;
    }
    lines.push(line);
    hasText ||= line.trim() !== "";
    hasContent ||= !isBare && !NO_CONTENT.test(line);
  }
  if (hasContent) documents.push({ yaml: lines.join("\n"), firstLine });
  return documents;
}
