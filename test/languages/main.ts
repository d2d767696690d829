/** Entry point of `bun run languages`: writes the tables of docs/languages.md. */
import { renderLanguages } from "../helpers/definitions/language_document.ts";

const text = await renderLanguages();
await Bun.write(new URL("../../docs/languages.md", import.meta.url), text);
process.stdout.write("docs/languages.md has the keys of all languages\n");
