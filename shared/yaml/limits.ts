/** Limits of a YAML text. Tokens are counted before anything is built from them. */
import { CST } from "yaml";

/**
 * Limits of one document of at most 150 KiB, with its aliases expanded. The outermost map has depth 1. Lines of texts in blocks
 * and quotes do not count.
 */
export const YAML_LIMITS = { nodes: 20_000, depth: 64, aliasExpansions: 50, lines: 20_000 } as const;

export const TOO_DEEP = `The document is nested deeper than ${YAML_LIMITS.depth} levels. Make this part flatter.`;
export const TOO_MANY_NODES = `The document has more than ${YAML_LIMITS.nodes} keys and values. Make it smaller.`;
const TOO_MANY_LINES = `The document has more than ${YAML_LIMITS.lines} lines. Remove empty lines.`;
export const TOO_MANY_ALIASES = `The document expands more than ${YAML_LIMITS.aliasExpansions} aliases. Write the text out.`;

/** Returns the minimum number of nodes for a token of a kind. */
function minNodes(type: string): number {
  if (["byte-order-mark", "doc-mode", "space", "comment", ""].includes(type)) return 0;
  // A key has a value.
  return type === "map-value-ind" || type === "explicit-key-ind" ? 2 : 1;
}

/**
 * Maximum entries on the parser's stack: one per open collection, plus the document, a scalar and its key. It bounds
 * the recursion of the composer; the exact depth is checked on the composed tree.
 */
export const MAX_PARSER_STACK = YAML_LIMITS.depth + 3;

/**
 * Returns a function to call with each token of the lexer, which returns an error message once a limit is exceeded.
 * Counts are lower bounds, so nothing is rejected that the exact count, on the composed document, would accept.
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
    // A marker token precedes the text of a plain scalar.
    isScalarText = type === "scalar";
    const counted = (nodes.get(type) ?? 0) + minNodes(type);
    nodes.set(type, counted);
    if (type === "newline") return counted > YAML_LIMITS.lines ? TOO_MANY_LINES : null;
    // Each alias is expanded at least once.
    if (type === "alias" && counted > YAML_LIMITS.aliasExpansions) return TOO_MANY_ALIASES;
    return counted > YAML_LIMITS.nodes ? TOO_MANY_NODES : null;
  };
}
