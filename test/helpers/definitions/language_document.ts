/** Renders the sections of docs/languages.md that list the keys of each language. */
import { exampleOfKey, type Key } from "../../../shared/definitions/language/keys.ts";
import { LANGUAGES } from "../../../shared/definitions/language/language.ts";
import { DEFINITION_TYPES, type DefinitionType } from "../../../shared/vocabulary.ts";

const FILE = Bun.file(new URL("../../../docs/languages.md", import.meta.url));
const START = "## Keys below `";

export function readLanguages(): Promise<string> {
  return FILE.text();
}

/** Returns the document with regenerated tables. The text before the tables is unchanged. */
export async function renderLanguages(): Promise<string> {
  const text = await readLanguages();
  const [intro = ""] = text.split(START);
  return `${intro}${DEFINITION_TYPES.map(renderLanguage).join("\n")}`;
}

/** Returns the section of a type: a heading and a table of all keys below the root key. */
function renderLanguage(type: DefinitionType): string {
  const rows = [...rowsOf(LANGUAGES[type], "")].map((row) => `| ${row.join(" | ")} |`);
  const head = ["| Key | Value | Required | Meaning | Example |", "|---|---|---|---|---|"];
  return [`## Keys below \`${type}\``, "", ...head, ...rows, ""].join("\n");
}

function* rowsOf(key: Key, path: string): Generator<string[]> {
  for (const [name, inner] of Object.entries(key.keys)) {
    const inside = path === "" ? name : `${path}.${name}`;
    yield [
      code(inside),
      kindOf(inner),
      inner.isRequired ? "yes" : "",
      inner.meaning,
      code(exampleOfKey(inner)),
    ];
    const item = inner.kind === "list" || inner.kind === "names" ? inner.item : null;
    yield* rowsOf(item ?? inner, inner.kind === "list" ? `${inside}[]` : item ? `${inside}.*` : inside);
  }
}

function kindOf({ kind, or, words, item }: Key): string {
  const one = kind === "word" ? words.map(code).join(", ") : kind === "names" ? "map of your own keys" : kind;
  const own = kind === "list" ? `list of ${nameOfItems(item)}` : one;
  return [own, ...or.map((other) => (other === "names" ? "map" : other))].join(", or ");
}

function nameOfItems(item: Key | null): string {
  return item?.kind === "prose" ? "prose" : `${item?.kind ?? "value"}s`;
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}
