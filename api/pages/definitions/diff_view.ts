/** A unified diff in color. */
import { type Html, html } from "../html.ts";

/** Size limit of the markup: half of a page's limit. Further lines are in the patch only. */
const MAX_BYTES = 100_000;

/** Classes by the first character of a line. */
const CLASSES: Readonly<Record<string, string>> = {
  "+": "added",
  "-": "removed",
  "@": "hunk",
  "\\": "remark",
};

/** Renders the hunks of a patch, without the names of its files. `hidden` counts the lines that are not shown. */
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

/** Signs stay in the text: color alone says nothing to many readers, and copied lines keep them. */
function renderLine(line: string): Html {
  const name = CLASSES[line.charAt(0)] ?? "same";
  return html`<span class="diff-${name}">${line}
</span>`;
}
