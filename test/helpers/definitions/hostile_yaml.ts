/** YAML that the parser must reject, most of it expensive to parse without limits. */

/** The maximum size of a document in bytes. */
const MAX_BYTES = 153_600;

function fill(piece: string): string {
  return piece.repeat(Math.floor(MAX_BYTES / piece.length));
}

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

/** Nine lists. Each list after the first contains ten aliases of the previous list. */
const ALIAS_BOMB = lines(
  9,
  (n) =>
    `k${n}: &a${n} [${Array(10)
      .fill(n === 0 ? "x" : `*a${n - 1}`)
      .join(", ")}]`,
);

/** The texts to reject. `because` is a part of the expected error message. */
export const HOSTILE_YAML: readonly (readonly [what: string, text: string, because: string])[] = [
  ["50,000 opening brackets", "[".repeat(50_000), "20000 keys"],
  ["50,000 opening braces", "{".repeat(50_000), "20000 keys"],
  ["50,000 brackets, each on a line", "[\n".repeat(50_000), "20000 keys"],
  ["50,000 pairs of brackets", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, "20000 keys"],
  ["50,000 pairs of braces", `${"{".repeat(50_000)}${"}".repeat(50_000)}`, "20000 keys"],
  ["brackets as a value", `a: ${"[".repeat(50_000)}`, "20000 keys"],
  ["braces in a list of a block", `a:\n  - ${"{".repeat(50_000)}`, "20000 keys"],
  ["brackets and braces in turn", fill("[{"), "20000 keys"],
  ["brackets below every key", lines(700, (n) => `k${n}: ${"[".repeat(60)}`), "20000 keys"],
  ["brackets up to the limit of bytes", fill("["), "20000 keys"],
  ["braces", fill("{a: "), "20000 keys"],
  ["dashes on one line", fill("- "), "20000 keys"],
  ["question marks on one line", fill("? "), "20000 keys"],
  ["10,000 opening brackets", "[".repeat(10_000), "nested deeper"],
  ["growing indentation", lines(540, (n) => `${" ".repeat(n)}a:`), "nested deeper"],
  ["dashes that are all closed at once", `${"- ".repeat(19_000)}x\ny: 1\n`, "nested deeper"],
  ["an alias bomb", ALIAS_BOMB, "50 aliases"],
  ["wide aliases", `a: &a [${"x,".repeat(390)}]\nb: [${"*a,".repeat(51)}]`, "50 aliases"],
  ["few aliases of much", `a: &a [${"x,".repeat(5000)}]\nb: [*a, *a, *a, *a]`, "20000 keys"],
  ["a cycle of anchors", "a: &a\n  b: &b\n    c: *a\n", 'alias "*a" is inside'],
  ["a list that holds itself", "a: &a [*a]", 'alias "*a" is inside'],
  ["20,000 keys", lines(20_000, (n) => `${n.toString(36)}:`), "20000 keys"],
  ["closing brackets", fill("]"), "20000 keys"],
  ["empty brackets", fill("[]"), "20000 keys"],
  ["commas in brackets", `[${fill(",")}`, "20000 keys"],
  ["many aliases", `a: &a 1\nb: [${fill("*a,")}`, "50 aliases"],
  [
    "anchors, and aliases of each",
    `${lines(9000, (n) => `- &a${n} x`)}\n${lines(51, (n) => `- *a${n}`)}`,
    "50 aliases",
  ],
  ["many anchors", fill("&a "), "20000 keys"],
  ["many tags", fill("- !x\n"), "20000 keys"],
  ["many quotes", fill('"'), "20000 keys"],
  ["many documents", fill("---\n"), "20000 keys"],
  ["many directives", fill("%a\n"), "20000 keys"],
  ["empty lines", fill("\n"), "20000 lines"],
  ["comments", fill("#\n"), "20000 lines"],
  ["bad escapes", `"${fill("\\q")}"`, "escape"],
  ["one key of a megabyte", `${"k".repeat(1_000_000)}: 1`, "1024 chars"],
  ["one quoted key of a megabyte", `"${"k".repeat(1_000_000)}": 1`, "1024 chars"],
  ["one key again and again", lines(6000, () => "a: 1"), "twice"],
  ["a very long key", `${"a".repeat(MAX_BYTES - 10)}: 1`, "1024 chars"],
  ["a list as a key", `? [${"a,".repeat(9000)}]\n: 1`, "cannot be a key"],
];
