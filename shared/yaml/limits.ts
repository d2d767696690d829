/** Limits of a YAML text. Tokens are counted before nodes are created from them. */
import { CST } from "yaml";

/**
 * The limits of a document. Nodes and depth are counted with expanded aliases. The outermost map has depth 1. Lines within block
 * scalars and quoted scalars do not count.
 */
export const YAML_LIMITS = { nodes: 20_000, depth: 64, aliasExpansions: 50, lines: 20_000 } as const;

export const TOO_DEEP = `The document is nested deeper than ${YAML_LIMITS.depth} levels. Make this part flatter.`;
export const TOO_MANY_NODES = `The document has more than ${YAML_LIMITS.nodes} keys and values. Make it smaller.`;
const TOO_MANY_LINES = `The document has more than ${YAML_LIMITS.lines} lines. Remove empty lines.`;
export const TOO_MANY_ALIASES = `The document expands more than ${YAML_LIMITS.aliasExpansions} aliases. Write the text out.`;

/** Returns the minimum number of nodes that a token of the given kind creates. */
function minNodes(type: string): number {
  if (["byte-order-mark", "doc-mode", "space", "comment", ""].includes(type)) return 0;
  // A key always has a value.
  return type === "map-value-ind" || type === "explicit-key-ind" ? 2 : 1;
}

/**
 * The maximum number of entries on the parser's stack: one per open collection, plus the document, a scalar and its key. It
 * bounds the composer's recursion. The exact depth is checked on the composed tree.
 */
export const MAX_PARSER_STACK = YAML_LIMITS.depth + 3;

/**
 * Returns a function to call with each token of the lexer. It returns an error message when a limit is exceeded. Its counts
 * are lower bounds, so it rejects no document that the exact count would accept.
 */
export function openTokenMeter(): (token: string) => string | null {
  const nodes = new Map<string, number>();
  let isScalarText = false;
  return (token) => {
    if (isScalarText) {
      isScalarText = false;
      return null;
    }
    const type = CST.tokenType(token) ?? "";
    // The text of a plain scalar follows a marker token.
    isScalarText = type === "scalar";
    const counted = (nodes.get(type) ?? 0) + minNodes(type);
    nodes.set(type, counted);
    if (type === "newline") return counted > YAML_LIMITS.lines ? TOO_MANY_LINES : null;
    // Every alias is expanded at least once.
    if (type === "alias" && counted > YAML_LIMITS.aliasExpansions) return TOO_MANY_ALIASES;
    return counted > YAML_LIMITS.nodes ? TOO_MANY_NODES : null;
  };
}
