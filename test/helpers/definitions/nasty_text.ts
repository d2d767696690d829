/** Texts that a careless exporter corrupts. */
import fc from "fast-check";

export const NASTY_TEXTS = [
  "",
  " ",
  'a "quoted" word',
  "comma, semicolon; tab\t",
  "semicolon;=1+1",
  "tab\t=1+1",
  "line\nfeed",
  "carriage\rreturn",
  "both\r\nof them\r\n",
  "\n",
  "back\\slash \\n \\u0041 \\.",
  "\\.",
  "\\N",
  "NULL",
  "\u2028 line separator \u2029",
  "next line \u0085, \v\f\u001c\u001d\u001e",
  "emoji 👩‍👩‍👧‍👦 and ümläut, 漢字, עברית",
  "\u0001\u0002\u001f\u007f\u0080",
  "\uFEFF byte order mark",
  "=1+1",
  "+1",
  "-1",
  "@SUM(A1)",
  "\t=1",
  "\r=1",
  "＝１",
  "＋1",
  "－1",
  "＠x",
  "'already",
  "x'; drop table issues; --",
  "x".repeat(9_000),
] as const;

/** Generates any text that PostgreSQL can store: all of Unicode except NUL. */
export function storableText(maxLength: number): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc.constantFrom(...NASTY_TEXTS),
      fc.string({ unit: "binary", maxLength }),
      fc.string({ unit: fc.constantFrom(..."\"',;\r\n\t\\=+-@ax"), maxLength }),
    )
    .map((text) => [...text.replaceAll("\0", "")].slice(0, maxLength).join(""));
}

const FORMULA_STARTS = [..."=+-@\t\r\n＝＋－＠"];

/** Returns the expected CSV cell of a text (docs/contract.md, Exports). */
export function neutralized(text: string): string {
  return FORMULA_STARTS.some((start) => text.startsWith(start)) ? `'${text}` : text;
}
