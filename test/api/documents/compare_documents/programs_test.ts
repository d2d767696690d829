/** Tests that `git apply` accepts generated diffs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { unifiedDiff } from "../../../../api/documents/compare_documents.ts";
import { editDefinition } from "../../../../shared/definitions/edit.ts";
import { readDemoDefinitions } from "../../../helpers/definitions/demo_definitions.ts";

const FILE = "a.agent.yaml";
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ulr-diff-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Applies the patch to a text with `git apply` and returns the result. Throws if git refuses the patch. */
async function applied(from: string, patch: string): Promise<string> {
  await Bun.write(join(folder, FILE), from);
  const git = Bun.spawn(["git", "apply", "--unsafe-paths", "--whitespace=nowarn", "-"], {
    cwd: folder,
    env: {
      PATH: Bun.env["PATH"] ?? "",
      GIT_CEILING_DIRECTORIES: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      HOME: folder,
    },
    stdin: new Blob([patch]),
    stderr: "pipe",
  });
  const complaint = await new Response(git.stderr).text();
  if ((await git.exited) !== 0) throw new Error(`${complaint}\n${patch}`);
  return Bun.file(join(folder, FILE)).text();
}

test("git applies the diff between a document and its edited copy", async () => {
  for (const { yaml } of readDemoDefinitions()) {
    const changes = { name: "forked", version: "7.0.0", description: "Anew", tags: ["x"] };
    const edited = editDefinition(yaml, changes);
    if (!edited.ok) throw new Error(`Cannot edit: ${JSON.stringify(edited.problems)}`);
    expect(await applied(yaml, unifiedDiff(yaml, edited.yaml, FILE))).toBe(edited.yaml);
  }
});

/** Texts that share lines, with LF and CRLF, and with and without a final line ending. */
const text = fc
  .array(
    fc.tuple(
      fc.constantFrom("a", "b", "", "  c", "- d", "+ e", "\\ f", "@@ -1 +1 @@", "é 漢"),
      fc.constantFrom("\n", "\n", "\r\n"),
    ),
    {
      minLength: 1,
      maxLength: 14,
    },
  )
  .map((lines) => lines.flat().join(""))
  .chain((whole) => fc.constantFrom(whole, whole.replace(/\r?\n$/, "")))
  .filter((whole) => whole !== "");

test("git applies any diff", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (from, to) => {
      fc.pre(from !== to);
      expect(await applied(from, unifiedDiff(from, to, FILE))).toBe(to);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ["with a final newline", "\n"],
  ["without a final newline", ""],
])("texts without common lines are replaced as a whole, %s", async (_, end) => {
  const lines = (word: string, count: number) =>
    Array.from({ length: count }, (__, n) => `${word} ${n}`).join("\n") + end;
  const [from, to] = [lines("old", 9000), lines("new", 7000)];
  const patch = unifiedDiff(from, to, FILE);
  expect(patch).toContain("@@ -1,9000 +1,7000 @@");
  expect(await applied(from, patch)).toBe(to);
});
