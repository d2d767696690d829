/** Generates random texts of several lines with lists, fences and hostile markup. Every word occurs once: `w1q`, `w2q`, … */
import type { Chance } from "../random_numbers.ts";

/** The possible beginnings of a line of prose. */
const LINE_STARTS = [
  "",
  "",
  "",
  "# ",
  "###### ",
  "> ",
  "| ",
  "=== ",
  "<div> ",
  "<!-- ",
  "</p> ",
  "[x]: /",
  "[x",
  "[ ] ",
  "![x](/y) ",
  "`a` ",
  "` ",
  "`` ",
  "**",
  "{{ x | y }} ",
  "{% if a < b %} ",
  "\\",
  "&amp; ",
  "2. ",
  "1986\\. ",
  "!`ls` ",
  "@",
  ": ",
  "+++",
];
const LINE_ENDS = ["", "", "", "", "  ", "\\", " \\\\", " |", " ##", "\t", " `", "]: /url", " <b>", "\u2028"];
/** Lines of markup without a word. */
const WORDLESS_LINES = ["---", "===", "***", "___", "--- | ---", ":-", "|-|", "-", "<div>", "</div>", "-->"];
const MARKERS = ["- ", "* ", "+ ", "1. ", "2. ", "1) ", "7) ", "-   ", "1.  ", "- [ ] ", "* [x] "];
const INFOS = ["", "", "js", ' python title="x"', "!", "c++", "<b>", "a~b"];
const CODE_LINES = [
  "",
  "",
  "  ",
  "\t",
  "# ",
  "- ",
  "    ",
  "\t\t",
  "> ",
  "---",
  "`` ",
  "~~ ",
  "</div>",
  "{{ ",
  "* * ",
];

/** Returns the words of a text or of its rendering, in order. */
export function wordsOf(text: string): string[] {
  return text.match(/w\d+q/g) ?? [];
}

interface Options {
  /**
   * The probability that a line in a list is not indented. Markdown parsers disagree about the block to which such a
   * line belongs.
   */
  unindented: number;
}

/** Returns a text of at least two lines. The last line is a word. */
export function randomPassage(chance: Chance, { unindented }: Options): string {
  let count = 0;
  const source = { chance, unindented, word: () => `w${++count}q` };
  const { word } = source;
  const lines = [...randomLines(source, 0), word(), ...(chance.of(0.5) ? ["", word()] : [])];
  return lines.join(chance.pick(["\n", "\n", "\n", "\r\n", "\r"]));
}

interface Source extends Options {
  chance: Chance;
  word: () => string;
}

function randomLines(source: Source, depth: number): string[] {
  const { chance } = source;
  const blocks = Array.from({ length: 1 + chance.below(4) }, () => {
    const block = randomBlock(source, depth);
    return chance.of(0.6) ? [...block, ""] : block;
  });
  return blocks.flat();
}

function randomBlock(source: Source, depth: number): string[] {
  const { chance, word } = source;
  const kind = chance.below(10);
  if (kind < 4 && depth < 3) return randomItem(source, depth);
  if (kind < 7) return randomFence(source);
  return Array.from({ length: 1 + chance.below(3) }, () =>
    chance.of(0.15)
      ? chance.pick(WORDLESS_LINES)
      : `${chance.pick(LINE_STARTS)}${word()}${chance.pick(LINE_ENDS)}`,
  );
}

/** Returns a list item, sometimes with lines that are indented less than its content. */
function randomItem(source: Source, depth: number): string[] {
  const { chance, word, unindented } = source;
  const marker = chance.pick(MARKERS);
  const indent = " ".repeat(marker.replace(/\[.*/, "").length);
  const [first = "", ...rest] = chance.of(0.7) ? [word()] : randomLines(source, depth + 1);
  // A marker followed by punctuation alone does not start a list.
  const start = WORDLESS_LINES.includes(first) ? word() : first;
  const more = chance.of(0.5) ? randomLines(source, depth + 1) : [];
  const below = [...rest, ...more].map((line) =>
    line === "" || chance.of(unindented) ? line : `${indent}${line}`,
  );
  return [`${marker}${start}`, ...below];
}

/** Returns a fenced code block, sometimes unclosed. */
function randomFence({ chance, word }: Source): string[] {
  const mark = chance.pick(["```", "~~~", "`````", "~~~~"]);
  const body = Array.from({ length: chance.below(4) }, () => `${chance.pick(CODE_LINES)}${word()}`);
  const info = chance.pick(INFOS);
  return [`${mark}${info}`, ...body, ...(chance.of(0.9) ? [mark] : [])];
}
