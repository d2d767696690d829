import { expect, test } from "bun:test";
import { AGENT_BLOCKS } from "../../shared/definitions/translate/agent/agent_source.ts";
import { readLanguages, renderLanguages } from "../helpers/definitions/language_document.ts";

test("docs/languages.md lists the definition keys and equals the output of `bun run languages`", async () => {
  const text = await readLanguages();
  expect(text).toBe(await renderLanguages());
  expect(text.match(/^\| `/gm)?.length).toBeGreaterThan(400);
});

test("docs/languages.md lists the blocks that each agent type requires and the blocks that it leaves out", async () => {
  const text = await readLanguages();
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  const rows = Object.entries(AGENT_BLOCKS).map(
    ([type, { needs, leavesOut }]) => `| \`${type}\` | ${list(needs)} | ${list(leavesOut)} |`,
  );
  const [, table = ""] = text.split("| `agentType` | Needs | Leaves out |\n|---|---|---|\n");
  expect(table.split("\n\n")[0]?.split("\n")).toEqual(rows);
});
