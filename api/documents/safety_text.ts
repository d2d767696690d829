/** Folds texts for the safety scan: converts lookalike letters to ASCII and removes invisible characters. */
import { normalizeText } from "../../shared/characters.ts";

/**
 * Lookalikes by the ASCII character that they resemble, selected from Unicode's confusables.txt (UTS #39,
 * https://www.unicode.org/Public/security/latest/confusables.txt): letters of Cyrillic, Greek, Armenian and phonetic alphabets,
 * and characters with a meaning in shells. NFKC folds full-width and mathematical forms first.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: "аαɑᴀ",
  b: "Ьʙᖯ",
  c: "сϲᴄ",
  d: "ԁᴅⅾ",
  e: "еεєҽᴇ",
  f: "ꜰẝ",
  g: "ɡցɢ",
  h: "һհʜ",
  i: "іιıɩɪӏ",
  j: "јϳᴊ",
  k: "кκᴋ",
  l: "ⅼǀ∣ʟ",
  m: "мᴍⅿ",
  n: "ոηɴ",
  o: "оοօσᴏ",
  p: "рρᴘ",
  q: "ԛգ",
  r: "гᴦʀ",
  s: "ѕꜱƽ",
  t: "тτᴛ",
  u: "υսᴜ",
  v: "νѵᴠ",
  w: "ԝωѡᴡ",
  x: "хχ×",
  y: "уγүʏ",
  z: "ᴢʐ",
  A: "АΑ",
  B: "ВΒ",
  C: "СϹ",
  E: "ЕΕ",
  H: "НΗ",
  I: "ІΙӀ",
  J: "Ј",
  K: "КΚ",
  M: "МΜ",
  N: "Ν",
  O: "ОΟՕ",
  P: "РΡ",
  S: "Ѕ",
  T: "ТΤ",
  X: "ХΧ",
  Y: "ҮΥ",
  Z: "Ζ",
  "|": "❘⏐│",
  "/": "⁄∕⧸╱",
  "-": "‐‑‒–—−",
  "~": "∼˜",
  ".": "․",
  "'": "‘’ʼ",
};

const FOLDED = new Map(
  Object.entries(LOOKALIKES).flatMap(([plain, others]) =>
    [...others].map((other) => [other, plain] as const),
  ),
);
const LOOKALIKE = new RegExp(`[${[...FOLDED.keys()].join("")}]`, "gu");
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|[\u202A-\u202E\u2066-\u2069]/gu;

/** Removes invisible characters, applies NFKC and converts lookalikes to ASCII. ASCII text stays unchanged. */
export function foldText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7F]*$/.test(text)) return text;
  return normalizeText(text.replace(INVISIBLE, ""), "NFKC").replace(
    LOOKALIKE,
    (character) => FOLDED.get(character) ?? character,
  );
}
