/** The texts of a definition as HTML: rendered Markdown, and YAML in color. */
import { ApiError } from "../../../shared/errors.ts";
import type { DocumentWork } from "../../documents/documents.ts";
import { Html, html } from "../html.ts";

/** In characters. More would make the page too large; the whole text can be downloaded. */
const MAX_LENGTH = 48_000;

interface RenderedText {
  markup: Html;
  /** True if the text goes on. */
  isCut: boolean;
}

/**
 * Renders the beginning of a text. Long texts take their turn in the thread for documents; if its queue is full, the text is
 * shown as it is.
 */
export async function renderText(
  work: Pick<DocumentWork, "render">,
  options: { format: "markdown" | "yaml"; text: string },
): Promise<RenderedText> {
  const text = cut(options.text);
  const isCut = text.length < options.text.length;
  return { markup: await render(work, { ...options, text }), isCut };
}

async function render(
  work: Pick<DocumentWork, "render">,
  { format, text }: { format: "markdown" | "yaml"; text: string },
): Promise<Html> {
  try {
    // The renderers escape.
    const markup = new Html(JSON.parse(await work.render({ format, text })));
    return format === "yaml" ? inCodeBlock(markup) : markup;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return inCodeBlock(html`${text}`);
  }
}

function inCodeBlock(markup: Html): Html {
  return html`<pre class="source" tabindex="0"><code>${markup}</code></pre>`;
}

/** Ends with a whole line, if there is one. */
function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const end = text.lastIndexOf("\n", MAX_LENGTH);
  return text.slice(0, end === -1 ? MAX_LENGTH : end + 1);
}
