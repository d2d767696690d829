/** Writes Markdown block by block, so that headings are never empty and lists never merge with their neighbours. */
import { escapeLineStart, type Inline, md, type Prose, printable } from "./inline.ts";
import { fenceLines } from "./passage.ts";
import { TranslationFailure } from "./translation_failure.ts";

/** Largest rendered text, in bytes of UTF-8. */
export const MAX_RENDERED_BYTES = 1_048_576;

type BlockKind = "none" | "bullet" | "number" | "block";

export class MarkdownWriter {
  readonly #lines: string[] = [];
  #size = 0;
  #indent = "";
  #last: BlockKind = "none";
  /** Headings that have no content yet. */
  #pending: { level: number; text: Inline }[] = [];

  /** A heading that appears as soon as something is written below it; never, when nothing is. */
  heading(level: number, text: Inline): void {
    this.#pending = this.#pending.filter((heading) => heading.level < level);
    this.#pending.push({ level, text });
  }

  paragraph(text: Prose | null): void {
    if (text === null) return;
    this.#open("block");
    for (const line of linesOf(text)) this.#write(line);
  }

  /** Stands in for content when nothing was written below the last heading, whose text would be lost. */
  unlessWritten(text: Inline): void {
    if (this.#pending.length > 0) this.paragraph(text);
  }

  /** `children` writes what belongs to the item: nested lists and fences. */
  bullet(text: Prose | null, children?: () => void): void {
    if (text === null) return;
    this.#open("bullet");
    this.#item("- ", linesOf(text), children);
  }

  checkbox(text: Prose | null): void {
    if (text === null) return;
    this.#open("bullet");
    // A box needs words behind it.
    const isBare = typeof text === "object" && text.lead === "";
    const [first = "", ...below] = linesOf(isBare ? md`All of this: ${text}` : text, false);
    this.#item("- ", [`[ ] ${first}`, ...below]);
  }

  /** `number` is 1 for the first item of a list. */
  numbered(number: number, text: Prose | null, children?: () => void): void {
    if (text === null) return;
    this.#open("number");
    this.#item(`${number}. `, linesOf(text), children);
  }

  /** A paragraph and a bullet for each text; neither when there is no text. */
  bullets(lead: Inline | null, texts: readonly (Prose | null)[]): void {
    if (texts.every((text) => text === null)) return;
    this.paragraph(lead);
    for (const text of texts) this.bullet(text);
  }

  /** Rows without any content are left out, and so are a table without rows and columns that stay empty. */
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

  /** Text to be read exactly as it stands, in a fence longer than any row of backticks inside. */
  fence(text: string | null, language = ""): void {
    const body = printable(text ?? "")
      .replace(/^\n+/, "")
      .trimEnd();
    if (body === "") return;
    this.#open("block");
    const info = /^[\w+#.-]{1,40}$/.test(language) ? language : "";
    for (const line of fenceLines(body.split("\n"), info)) this.#write(line);
  }

  /** Everything written, with one line feed at the end. */
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

  /** Prepares for a block: writes the headings that wait for it and the blank line before it. */
  #open(kind: BlockKind): void {
    if (this.#pending.length > 0) this.#writeHeadings();
    const isNextItem = kind === this.#last && kind !== "block";
    // A blank line inside an item would set its whole list apart.
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

/** Keeps a heading's own number signs at its end from being taken for its closing ones. */
function escapeHeading(text: Inline): string {
  return text.replace(/(?<!#)(#+)$/, "\\$1");
}

/** Every `|` gets a backslash unless it has one, so that a row keeps its number of cells. */
function escapePipes(cell: string): string {
  return cell.replace(/\\.|\|/g, (found) => (found === "|" ? "\\|" : found));
}
