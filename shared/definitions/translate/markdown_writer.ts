/** Writes Markdown block by block. No heading is left empty, and lists do not merge with adjacent lists. */
import { escapeLineStart, type Inline, md, type Prose, printable } from "./inline.ts";
import { fenceLines } from "./passage.ts";
import { TranslationFailure } from "./translation_failure.ts";

/** The maximum size of the rendered text, in bytes of UTF-8. */
export const MAX_RENDERED_BYTES = 1_048_576;

type BlockKind = "none" | "bullet" | "number" | "block";

export class MarkdownWriter {
  readonly #lines: string[] = [];
  #size = 0;
  #indent = "";
  #last: BlockKind = "none";
  /** Headings that have no content yet. */
  #pending: { level: number; text: Inline }[] = [];

  /** Adds a heading, which is written with the first content below it. Without content, the heading is omitted. */
  heading(level: number, text: Inline): void {
    this.#pending = this.#pending.filter((heading) => heading.level < level);
    this.#pending.push({ level, text });
  }

  paragraph(text: Prose | null): void {
    if (text === null) return;
    this.#open("block");
    for (const line of linesOf(text)) this.#write(line);
  }

  /** Writes a paragraph if the last heading has no content, because the text of the heading would otherwise be lost. */
  unlessWritten(text: Inline): void {
    if (this.#pending.length > 0) this.paragraph(text);
  }

  /** Writes a bullet. `children` writes the nested lists and fences of the item. */
  bullet(text: Prose | null, children?: () => void): void {
    if (text === null) return;
    this.#open("bullet");
    this.#item("- ", linesOf(text), children);
  }

  checkbox(text: Prose | null): void {
    if (text === null) return;
    this.#open("bullet");
    // A checkbox needs text after it.
    const isBare = typeof text === "object" && text.lead === "";
    const [first = "", ...below] = linesOf(isBare ? md`All of this: ${text}` : text, false);
    this.#item("- ", [`[ ] ${first}`, ...below]);
  }

  /** Writes a numbered item. `number` is 1 for the first item of a list. */
  numbered(number: number, text: Prose | null, children?: () => void): void {
    if (text === null) return;
    this.#open("number");
    this.#item(`${number}. `, linesOf(text), children);
  }

  /** Writes a paragraph and a bullet for each text. Writes nothing if there are no texts. */
  bullets(lead: Inline | null, texts: readonly (Prose | null)[]): void {
    if (texts.every((text) => text === null)) return;
    this.paragraph(lead);
    for (const text of texts) this.bullet(text);
  }

  /** Writes a table. Omits empty rows and empty columns, and the whole table if all rows are empty. */
  table(header: readonly string[], rows: readonly (readonly (Inline | null)[])[]): void {
    const full = rows.filter((row) => row.some((cell) => cell !== null));
    const columns = header
      .map((_, column) => column)
      .filter((column) => full.some((row) => row[column] != null));
    if (columns.length === 0) return;
    this.#open("block");
    this.#row(columns.map((column) => escapePipes(header[column] ?? "")));
    this.#row(columns.map(() => "---"));
    for (const row of full) this.#row(columns.map((column) => escapePipes(row[column] ?? "")));
  }

  /** Writes literal text in a fence that is longer than any run of backticks in the text. */
  fence(text: string | null, language = ""): void {
    const body = printable(text ?? "")
      .replace(/^\n+/, "")
      .trimEnd();
    if (body === "") return;
    this.#open("block");
    const info = /^[\w+#.-]{1,40}$/.test(language) ? language : "";
    for (const line of fenceLines(body.split("\n"), info)) this.#write(line);
  }

  /** Returns the whole text, with one line feed at the end. */
  toString(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #item(marker: string, [first = "", ...below]: readonly string[], children?: () => void): void {
    this.#write(`${marker}${first}`);
    if (!children && below.length === 0) return;
    const { indent, last } = { indent: this.#indent, last: this.#last };
    this.#indent += marker.length === 2 ? "  " : " ".repeat(marker.length);
    for (const line of below) this.#write(line);
    children?.();
    this.#indent = indent;
    this.#last = last;
  }

  /** Starts a block: writes the pending headings and the blank line before the block. */
  #open(kind: BlockKind): void {
    if (this.#pending.length > 0) this.#writeHeadings();
    const isNextItem = kind === this.#last && kind !== "block";
    // A blank line within an item would turn the whole list into a loose list.
    if (!isNextItem && this.#indent === "") this.#blank();
    this.#last = kind;
  }

  #writeHeadings(): void {
    for (const { level, text } of this.#pending) {
      this.#blank();
      this.#write(`${"#".repeat(level)} ${escapeHeading(text)}`);
    }
    this.#pending = [];
    this.#last = "block";
  }

  #blank(): void {
    if (this.#lines.length > 0) this.#write("");
  }

  #row(cells: readonly string[]): void {
    this.#write(`| ${cells.join(" | ")} |`);
  }

  #write(line: string): void {
    const indented = line === "" ? "" : this.#indent + line;
    this.#size += indented.length + 1;
    if (this.#size > MAX_RENDERED_BYTES) throw markdownTooLarge();
    this.#lines.push(indented);
  }
}

function linesOf(text: Prose, isLineStart = true): readonly string[] {
  const { lead, below } = typeof text === "object" ? text : { lead: text, below: [] };
  if (lead === "" && below.length > 0) return below;
  return [isLineStart ? escapeLineStart(lead) : lead, ...below];
}

export function markdownTooLarge(): TranslationFailure {
  return new TranslationFailure("too_large", "", "The rendered text is larger than 1 MiB");
}

/** Escapes number signs at the end of a heading, which Markdown would read as a closing sequence. */
function escapeHeading(text: Inline): string {
  return text.replace(/(?<!#)(#+)$/, "\\$1");
}

/** Escapes every unescaped `|`, so that the number of cells in a row stays the same. */
function escapePipes(cell: string): string {
  return cell.replace(/\\.|\|/g, (found) => (found === "|" ? "\\|" : found));
}
