/** Highlights YAML with the tokens of the parser that reads definitions. */
import { CST, Lexer } from "yaml";

/** Maximum highlighted spans. Real documents have a few hundred. */
const MAX_SPANS = 3_000;

/** Marks a plain or block scalar, whose text is the next token. */
const SCALAR_MARK = "\u001f";

/** CSS classes by token kind. Other tokens have the color of text. */
const CLASSES: Readonly<Record<string, string>> = {
  comment: "yaml-comment",
  "single-quoted-scalar": "yaml-text",
  "double-quoted-scalar": "yaml-text",
  "block-scalar-header": "yaml-mark",
  anchor: "yaml-mark",
  alias: "yaml-mark",
  tag: "yaml-mark",
  "doc-start": "yaml-mark",
};

/** Token kinds without text, which the lexer adds. */
const INVISIBLE: ReadonlySet<string> = new Set(["doc-mode", "flow-error-end", "scalar"]);

interface YamlToken {
  kind: string;
  text: string;
}

/**
 * Returns the text as HTML, with keys, quotes, comments and marks in `<span>` elements. The text itself is unchanged. Takes
 * about a millisecond per kilobyte in the worst case, so long texts go through `Documents`.
 */
export function highlightYaml(yaml: string): string {
  const tokens = readTokens(yaml);
  let markup = "";
  let spans = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    const name = isKey(tokens, index) ? "yaml-key" : CLASSES[kind];
    const escaped = Bun.escapeHTML(text);
    markup += name && spans++ < MAX_SPANS ? `<span class="${name}">${escaped}</span>` : escaped;
  }
  return markup;
}

function readTokens(yaml: string): YamlToken[] {
  const tokens: YamlToken[] = [];
  let isScalarText = false;
  for (const text of new Lexer().lex(yaml)) {
    const kind = isScalarText ? "plain" : (CST.tokenType(text) ?? "plain");
    isScalarText = !isScalarText && text === SCALAR_MARK;
    if (!INVISIBLE.has(kind)) tokens.push({ kind, text });
  }
  return tokens;
}

function isKey(tokens: readonly YamlToken[], index: number): boolean {
  const kind = tokens[index]?.kind;
  if (kind !== "plain" && kind !== "double-quoted-scalar" && kind !== "single-quoted-scalar") return false;
  const next = tokens[index + 1]?.kind === "space" ? index + 2 : index + 1;
  return tokens[next]?.kind === "map-value-ind";
}
