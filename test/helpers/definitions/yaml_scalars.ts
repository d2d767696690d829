/** Writes a text as a YAML scalar in a random style. */
import type { Chance } from "../random_numbers.ts";

const SAFE_PLAIN = /^(?:[a-z][a-z0-9 .@^-]*[a-z0-9]|\d+\.\d+\.\d+)$/i;
const RESERVED = /^(?:null|true|false)$/i;

/** Returns a plain or quoted scalar, possibly of several lines, for a block at this column. */
export function randomFlowScalar(chance: Chance, text: string, column: number): string {
  const isPlain = SAFE_PLAIN.test(text) && !RESERVED.test(text);
  const isFolded = chance.of(0.2);
  const folded = (line: string) => (isFolded ? fold(chance, line, `\n${" ".repeat(column + 2)}`) : line);
  const single = /[\n\t]/.test(text) ? [] : [`'${folded(text.replaceAll("'", "''"))}'`];
  const plain = isPlain ? [folded(text), folded(text)] : [];
  return chance.pick([...plain, ...single, folded(JSON.stringify(text))]);
}

/**
 * Returns a literal or folded block scalar without its last line break. Null for a text of fewer than two characters,
 * or with leading or trailing whitespace other than one final line break.
 */
export function randomBlockScalar(
  chance: Chance,
  text: string,
  column: number,
): { header: string; body: string } | null {
  if (!/^[^\s].*\S\n?$/s.test(text)) return null;
  const isFolded = !text.trimEnd().includes("\n") && chance.of(0.5);
  const deeper = 1 + chance.below(4);
  const indicators = [chance.of(0.15) ? String(deeper) : "", text.endsWith("\n") ? "" : "-"];
  const body = isFolded ? fold(chance, text.trimEnd(), "\n") : text.trimEnd();
  return {
    header: (isFolded ? ">" : "|") + chance.shuffle(indicators).join(""),
    body: body.replaceAll(/^(?=.)/gm, " ".repeat(column + deeper)),
  };
}

/** Replaces some single spaces between words with line breaks. */
function fold(chance: Chance, text: string, lineBreak: string): string {
  return text.replaceAll(/(?<=[a-z]) (?=[a-z])/g, () => (chance.of(0.3) ? lineBreak : " "));
}
