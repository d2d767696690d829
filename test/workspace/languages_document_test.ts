import { expect, test } from "bun:test";
import { AGENT_BLOCKS } from "../../shared/definitions/translate/agent/agent_source.ts";
import { readLanguages, renderLanguages } from "../helpers/definitions/language_document.ts";

test("docs/languages.md has every key of the tables; `bun run languages` writes it", async () => {
  const text = await readLanguages();
  expect(text).toBe(await renderLanguages());
  expect(text.match(/^\| `/gm)?.length).toBeGreaterThan(400);
});

test("docs/languages.md has the blocks that each type of agent needs and leaves out", async () => {
  const text = await readLanguages();
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  const rows = Object.entries(AGENT_BLOCKS).map(
    ([type, { needs, leavesOut }]) => `| \`${type}\` | ${list(needs)} | ${list(leavesOut)} |`,
  );
  const [, table = ""] = text.split("| `agentType` | Needs | Leaves out |\n|---|---|---|\n");
  expect(table.split("\n\n")[0]?.split("\n")).toEqual(rows);
});
