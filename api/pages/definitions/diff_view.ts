/** Renders a unified diff in color. */
import { type Html, html } from "../html.ts";

/** The maximum size of the markup, half of a page's limit. Only the patch contains the remaining lines. */
const MAX_BYTES = 100_000;

/** CSS classes by the first character of a line. */
const CLASSES: Readonly<Record<string, string>> = {
  "+": "added",
  "-": "removed",
  "@": "hunk",
  "\\": "remark",
};

/** Renders the hunks of a patch without its file names. `hidden` is the number of lines that are not shown. */
export function renderDiff(patch: string): { markup: Html; hidden: number } {
  const lines = patch.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const hunks = first === -1 ? [] : lines.slice(first);
  const shown: Html[] = [];
  let bytes = 0;
  for (const line of hunks) {
    const rendered = renderLine(line);
    bytes += Buffer.byteLength(rendered.text);
    if (bytes > MAX_BYTES) break;
    shown.push(rendered);
  }
  return { markup: html`${shown}`, hidden: hunks.length - shown.length };
}

/** Renders a line with its sign. Many readers cannot tell the colors apart, and copied lines need the sign. */
function renderLine(line: string): Html {
  const name = CLASSES[line.charAt(0)] ?? "same";
  return html`<span class="diff-${name}">${line}
</span>`;
}
