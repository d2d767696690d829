/** Formats values as YAML text. */
import { Scalar, stringify } from "yaml";

/** A text or a list of texts. */
export type WrittenValue = string | readonly string[];

/** A block scalar. */
export interface BlockText {
  /** The header: `|`, `|-`, `>` or `>-`. */
  header: string;
  lines: string[];
}

/** Characters that every reader preserves in a block scalar. Texts with other characters are written with escapes or quotes. */
const PLAIN_CHARACTERS =
  /^[\t\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const BLANK_LINE = /^[ \t]+$/m;

/** Formats a value on one line, so that it is also valid inside brackets. A text keeps the quotes of the text that it replaces. */
export function flowText(value: WrittenValue, style?: Scalar.Type | null): string {
  if (typeof value !== "string") return `[${value.map((item) => flowText(item)).join(", ")}]`;
  // JSON is valid YAML, and is always on one line.
  if (style === Scalar.QUOTE_DOUBLE || /[\r\n]/.test(value)) return JSON.stringify(value);
  const text = stringify([value], {
    // Quotes words such as `yes`, which older readers interpret as booleans.
    compat: "yaml-1.1",
    collectionStyle: "flow",
    flowCollectionPadding: false,
    lineWidth: 0,
    defaultStringType: style === Scalar.QUOTE_SINGLE ? style : Scalar.PLAIN,
  });
  return text.trim().slice(1, -1);
}

/**
 * Formats a text as a block scalar. With `isFolded`, a text of one line is folded. Returns null for lists, and for texts that need
 * quotes.
 */
export function blockText(value: WrittenValue, isFolded = false): BlockText | null {
  if (typeof value !== "string" || !/^\S/.test(value) || value.endsWith("\n\n")) return null;
  if (!PLAIN_CHARACTERS.test(value) || BLANK_LINE.test(value)) return null;
  const isEnded = value.endsWith("\n");
  const lines = (isEnded ? value.slice(0, -1) : value).split("\n");
  return { header: (isFolded && lines.length === 1 ? ">" : "|") + (isEnded ? "" : "-"), lines };
}
