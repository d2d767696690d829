/** Random texts of several lines with lists, fences and hostile markup. Every word occurs once: `w1q`, `w2q`, … */
import type { Chance } from "../random_numbers.ts";

/** What a line of prose may start with. */
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
/** Lines that have a meaning without any word. */
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

/** The words of a text or of its rendering, in order. */
export function wordsOf(text: string): string[] {
  return text.match(/w\d+q/g) ?? [];
}

interface Options {
  /** The share of unindented lines in lists: Markdown readers disagree about what such lines belong to. */
  unindented: number;
}

/** A text of at least two lines that starts with a word, a list or a fence. */
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

/** A list item, sometimes with lines that are indented less than its content. */
function randomItem(source: Source, depth: number): string[] {
  const { chance, word, unindented } = source;
  const marker = chance.pick(MARKERS);
  const indent = " ".repeat(marker.replace(/\[.*/, "").length);
  const [first = "", ...rest] = chance.of(0.7) ? [word()] : randomLines(source, depth + 1);
  // After a marker, a line of punctuation is not a list.
  const start = WORDLESS_LINES.includes(first) ? word() : first;
  const more = chance.of(0.5) ? randomLines(source, depth + 1) : [];
  const below = [...rest, ...more].map((line) =>
    line === "" || chance.of(unindented) ? line : `${indent}${line}`,
  );
  return [`${marker}${start}`, ...below];
}

/** A fence, sometimes without an end. */
function randomFence({ chance, word }: Source): string[] {
  const mark = chance.pick(["```", "~~~", "`````", "~~~~"]);
  const body = Array.from({ length: chance.below(4) }, () => `${chance.pick(CODE_LINES)}${word()}`);
  const info = chance.pick(INFOS);
  return [`${mark}${info}`, ...body, ...(chance.of(0.9) ? [mark] : [])];
}
