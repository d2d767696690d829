import { expect, test } from "bun:test";
import { readLanguages, renderLanguages } from "../helpers/definitions/language_document.ts";

test("docs/languages.md has every key of the tables; `bun run languages` writes it", async () => {
  const text = await readLanguages();
  expect(text).toBe(await renderLanguages());
  expect(text.match(/^\| `/gm)?.length).toBeGreaterThan(400);
});
