import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TRANSLATOR_VERSION } from "../../../../../shared/definitions/translate/translate.ts";
import {
  digestGoldens,
  type Golden,
  load,
  outline,
  translateDemo,
} from "../../../../helpers/definitions/translation.ts";

const FOLDER = join(import.meta.dir, "../../../../fixtures/translate");
const goldens = translateDemo();

function readFixtures(): Golden[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".md"));
  return files.toSorted().map((file) => ({ file, runtimeMd: readFileSync(join(FOLDER, file), "utf8") }));
}

test.each(goldens)("$file is rendered exactly like its golden file", ({ file, runtimeMd }) => {
  expect(runtimeMd).toBe(readFileSync(join(FOLDER, file), "utf8"));
});

test("golden files change only if the translator's version changes", () => {
  const versions = JSON.parse(readFileSync(join(FOLDER, "versions.json"), "utf8"));
  expect(versions[TRANSLATOR_VERSION]).toBe(digestGoldens(readFixtures()));
  expect(Object.keys(versions).at(-1)).toBe(TRANSLATOR_VERSION);
});

test("a process in another time zone and locale renders the same bytes", () => {
  const script = `
    import { digestGoldens, translateDemo } from "./test/helpers/definitions/translation.ts";
    process.stdout.write(digestGoldens(translateDemo()));`;
  const child = Bun.spawnSync([process.execPath, "-e", script], {
    cwd: join(import.meta.dir, "../../../../.."),
    env: { ...process.env, TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  });
  expect(child.stdout.toString()).toBe(digestGoldens(goldens));
  expect(digestGoldens(translateDemo())).toBe(digestGoldens(goldens));
});

const KEYS = {
  agent: ["name", "description", "tools", "model", "version"],
  command: ["description", "argument-hint", "model"],
  workflow: ["description", "argument-hint", "model"],
  pipeline: ["name", "description", "version"],
} as const;

test.each(goldens)("$file has ordered front matter, one title and no empty items", ({ file, runtimeMd }) => {
  const { frontMatter, body } = load(runtimeMd);
  const [name, type] = file.split(".") as [string, keyof typeof KEYS];
  const keys = Object.keys(frontMatter);
  expect(keys).toEqual(KEYS[type].filter((key) => keys.includes(key)));
  expect(Object.values(frontMatter).every((value) => typeof value === "string" && value !== "")).toBe(true);
  if (keys.includes("name")) expect(frontMatter["name"]).toBe(name);
  expect(body.endsWith("\n") && !body.endsWith("\n\n")).toBe(true);
  expect(runtimeMd).not.toMatch(/\r|undefined|\[object |null|NaN/);
  expect(body).not.toMatch(/^\s*(?:[-*]|\d+\.|#+)\s*$/m);
  expect(body).not.toMatch(/[ \t]$|\n\n\n/m);
  expect(outline(runtimeMd).filter((heading) => heading.startsWith("# "))).toHaveLength(1);
});

/** The second-level headings of each language in their required order. */
const SECTIONS = {
  agent: `Purpose Limits Setting Knowledge Lens Forecast-frame Scoring Severity Automatic-failure Inputs Steps Results
    Procedure Decision Completion Undo Special-cases Report Works-with Voice`,
  command: "Arguments Inputs Before-you-start Run Repeat Afterwards Record Report",
  workflow: "Arguments Before-you-start Look-around-first Order Phases Result Write Afterwards",
  pipeline: "Starts-when Environment Order Stages Undo Tell Keep Remember Afterwards",
} as const;

test.each(goldens)("$file has only known sections, in the required order", ({ file, runtimeMd }) => {
  const type = file.split(".")[1] as keyof typeof SECTIONS;
  const order = SECTIONS[type].split(/\s+/).map((word) => word.replaceAll("-", " "));
  const found = outline(runtimeMd)
    .filter((heading) => heading.startsWith("## "))
    .map((heading) => heading.slice(3));
  expect(found).toEqual(order.filter((section) => found.includes(section)));
});

test("an agent's outline contains its sections, categories, phases and special cases", () => {
  const reviewer = goldens.find(({ file }) => file === "code-reviewer.agent.md");
  expect(outline(reviewer?.runtimeMd ?? "")).toEqual([
    "# Code Reviewer",
    "## Purpose",
    "## Limits",
    "## Scoring",
    "### Correctness",
    "### Tests",
    "### Clarity",
    "### Compatibility",
    "## Automatic failure",
    "## Procedure",
    "### 1. Read the change",
    "### 2. Judge it",
    "### Before you decide",
    "## Decision",
    "## Special cases",
    "### Empty diff",
    "## Report",
    "## Voice",
  ]);
});
