/** Renders untrusted Markdown as HTML that runs no code and loads no resources. */
import MarkdownIt, { type MarkdownIt as Parser, type StateCore, type Token } from "markdown-it";

/** Maximum nesting of lists and quotes. Deeper levels stay text. */
const MAX_NESTING = 20;
/** Base URLs for detecting links to other hosts. `http:example.com` leads to another host only from an https page. */
const OWN_ORIGINS = ["http://own.invalid", "https://own.invalid"] as const;

const parser = createParser();

/**
 * Renders the Markdown of a definition as HTML. Escapes raw HTML and turns images into links. Links must be relative or use
 * http or https. Headings move down one level, below the `h1` of the page. Takes about a millisecond per kilobyte in the worst
 * case, so long texts go through `Documents`.
 */
export function renderMarkdown(markdown: string): string {
  return parser.render(withoutFrontMatter(markdown));
}

function createParser(): Parser {
  const parser = new MarkdownIt("default", { html: false, linkify: false, maxNesting: MAX_NESTING });
  parser.validateLink = (url) => resolveLink(url, OWN_ORIGINS[0]) !== null;
  parser.core.ruler.push("lower_headings", lowerHeadings);
  parser.core.ruler.push("task_boxes", drawTaskBoxes);
  parser.core.ruler.push("links_only", ({ tokens, Token }) => {
    for (const token of tokens) {
      if (token.children) token.children = token.children.flatMap(createLinkRule(parser, Token));
    }
  });
  const { rules } = parser.renderer;
  rules["table_open"] = () => `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n`;
  rules["table_close"] = () => "</table></div>\n";
  // A code line may be wider than the page. `tabindex` makes the block focusable, so that the keyboard can scroll it.
  rules["fence"] = (tokens, index) => renderCode(tokens[index]?.content ?? "");
  rules["code_block"] = rules["fence"];
  return parser;
}

function renderCode(content: string): string {
  return `<pre tabindex="0"><code>${Bun.escapeHTML(content)}</code></pre>\n`;
}

/** Resolves a link on a page at `base`. Returns null unless the result is an http or https URL. */
function resolveLink(url: string, base: string): URL | null {
  const resolved = URL.parse(url, base);
  return resolved && ["http:", "https:"].includes(resolved.protocol) ? resolved : null;
}

function lowerHeadings({ tokens }: StateCore): void {
  for (const token of tokens) {
    if (!token.type.startsWith("heading_")) continue;
    token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 1)}`;
  }
}

/** Shows the `[ ]` and `[x]` of a task list as boxes. */
function drawTaskBoxes({ tokens }: StateCore): void {
  for (const [index, token] of tokens.entries()) {
    const [text] = token.children ?? [];
    if (text?.type !== "text" || tokens[index - 2]?.type !== "list_item_open") continue;
    text.content = text.content.replace(/^\[([ xX])\] /, (_, mark) => (mark === " " ? "☐ " : "☑ "));
  }
}

/** Returns a function that turns images into links and marks links to other hosts. Pass it a paragraph's tokens in order. */
function createLinkRule(parser: Parser, TokenClass: typeof Token): (token: Token) => Token[] {
  let isInLink = false;
  const text = (content: string) => Object.assign(new TokenClass("text", "", 0), { content });
  return (token) => {
    if (token.type === "link_open") {
      isInLink = true;
      return [markForeign(token, token.attrGet("href"))];
    }
    if (token.type === "link_close") isInLink = false;
    if (token.type !== "image") return [token];
    const alt = parser.renderer.renderInlineAsText(token.children ?? [], parser.options, {});
    if (isInLink) return [text(alt || "Image")];
    const open = new TokenClass("link_open", "a", 1);
    const source = String(token.attrGet("src") ?? "");
    open.attrSet("href", source);
    return [markForeign(open, source), text(alt || "Image"), new TokenClass("link_close", "a", -1)];
  };
}

function markForeign(link: Token, address: string | number | null): Token {
  if (OWN_ORIGINS.some((own) => resolveLink(String(address ?? ""), own)?.origin !== own))
    link.attrSet("rel", "nofollow noopener noreferrer");
  return link;
}

/** Removes the front matter, which is for coding agents. Pages show it elsewhere. */
function withoutFrontMatter(markdown: string): string {
  const end = markdown.startsWith("---\n") ? markdown.indexOf("\n---\n") : -1;
  return end === -1 ? markdown : markdown.slice(end + "\n---\n".length);
}
