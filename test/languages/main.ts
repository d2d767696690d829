/** Entry point of `bun run languages`: writes the tables of docs/languages.md. */
import { requireNoArguments } from "../../shared/process/arguments.ts";
import { renderLanguages } from "../helpers/definitions/language_document.ts";

requireNoArguments(process, "Usage: bun run languages\n\nWrites the tables of keys of docs/languages.md.\n");

const text = await renderLanguages();
await Bun.write(new URL("../../docs/languages.md", import.meta.url), text);
process.stdout.write("docs/languages.md has the keys of all languages\n");
