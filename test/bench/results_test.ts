import { expect, test } from "bun:test";
import {
  type Choice,
  composeDocument,
  type FigureTable,
  figure,
  findOtherFact,
  readChoice,
  readDocument,
  renderFigures,
  renderSection,
  scoreOf,
} from "./results.ts";

const FACTS = { CPU: "Some processor, 2 cores", PostgreSQL: "18.4" };

function sectionOf(name: string, ratio: number): string {
  return renderSection({
    name,
    title: `the ${name}`,
    about: "Against a peer.",
    measuredAt: new Date("2026-11-20T10:11:12Z"),
    commit: "0123abc",
    seconds: 61.4,
    loadBefore: 0.125,
    tables: [
      { title: "Ratios", header: ["what", "ratio"], rows: [["all", figure(ratio, 2, { atMost: 1 })]] },
    ],
  });
}

const SECTIONS = new Map([
  ["export", sectionOf("export", 0.5)],
  ["jobs", sectionOf("jobs", 1.5)],
]);

test("a section states when and at which commit it was measured, and how many goals were met", () => {
  const [heading, , about, , status] = sectionOf("export", 0.5).split("\n");
  expect(heading).toBe("## export: the export");
  expect(about).toBe("Against a peer.");
  expect(status).toBe(
    "Measured 2026-11-20 10:11 UTC at 0123abc in 61 s; load before 0.13; 1 of 1 goals met.",
  );
});

test("readDocument() returns the facts and sections that composeDocument() wrote", () => {
  const document = composeDocument({ facts: FACTS, sections: SECTIONS }, {});
  expect(readDocument(document)).toEqual({ facts: FACTS, sections: SECTIONS });
});

test("the head of the document counts the met goals and lists each section's date", () => {
  const [head = ""] = composeDocument({ facts: FACTS, sections: SECTIONS }, {}).split("\n## ");
  expect(head).toContain("- CPU: Some processor, 2 cores\n- PostgreSQL: 18.4\n");
  expect(head).toContain("1 of 2 goals met:");
  const lines = head.split("\n").filter((line) => line.startsWith("| jobs"));
  expect(lines.map((line) => line.split("|").map((cell) => cell.trim()))).toEqual([
    ["", "jobs: the jobs", "2026-11-20 10:11", "0.13", "0 of 1", ""],
  ]);
});

test("notes are appended to their section and replace earlier notes", () => {
  const first = composeDocument({ facts: FACTS, sections: SECTIONS }, { jobs: "It was Monday.\n" });
  expect(first.endsWith("\n\n### Notes\n\nIt was Monday.\n")).toBe(true);
  const second = composeDocument(readDocument(first), { jobs: "It was Tuesday." });
  expect(second).toBe(first.replace("Monday", "Tuesday"));
  expect(composeDocument(readDocument(second), {})).toBe(
    composeDocument({ facts: FACTS, sections: SECTIONS }, {}),
  );
});

test("findOtherFact() returns a fact that differs from the old results, or null without old results", () => {
  const old = readDocument(composeDocument({ facts: FACTS, sections: SECTIONS }, {}));
  expect(findOtherFact(old, FACTS)).toBeNull();
  expect(findOtherFact(old, { ...FACTS, PostgreSQL: "15.9" })).toBe("PostgreSQL");
  expect(findOtherFact(readDocument(""), FACTS)).toBeNull();
});

function tableOf(rows: FigureTable["rows"]): FigureTable {
  return { title: "Speed", header: ["what", "s", "ratio"], rows };
}

test("a table without goals has no goal column", () => {
  const table = tableOf([["export", figure(1.25, 2), figure(0.5, 1)]]);
  expect(renderFigures(table)).toBe(
    [
      "### Speed",
      "",
      "| what   |    s | ratio |",
      "| ------ | ---: | ----: |",
      "| export | 1.25 |   0.5 |",
    ].join("\n"),
  );
  expect(scoreOf([table])).toEqual({ met: 0, goals: 0 });
});

test("a table row shows the goals of its figures and whether all goals are met", () => {
  const table = tableOf([
    ["fast", figure(1, 1, { atMost: 2 }), figure(3, 2, { atLeast: 2 })],
    ["slow", figure(1, 1, { atMost: 2 }), figure(1.5, 2, { atLeast: 2 })],
    ["unjudged", figure(1, 1), ""],
  ]);
  const [, , header = "", , fast = "", slow = "", unjudged = ""] = renderFigures(table).split("\n");
  const cellsOf = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  expect(cellsOf(header)).toEqual(["what", "s", "ratio", "goal", "met"]);
  expect(cellsOf(fast)).toEqual(["fast", "1.0", "3.00", "s ≤ 2.0, ratio ≥ 2.00", "yes"]);
  expect(cellsOf(slow)).toEqual(["slow", "1.0", "1.50", "s ≤ 2.0, ratio ≥ 2.00", "**no**"]);
  expect(cellsOf(unjudged)).toEqual(["unjudged", "1.0", "", "", ""]);
  expect(scoreOf([table])).toEqual({ met: 3, goals: 4 });
});

test("a list below the table names exactly the missed goals", () => {
  const table = tableOf([
    ["slow", figure(3.04, 1, { atMost: 2 }), figure(1.5, 2, { atLeast: 2, atMost: 4 })],
    ["fast", figure(1, 1, { atMost: 2 }), figure(3, 2, { atLeast: 2 })],
  ]);
  expect(renderFigures(table).split("Missed:\n\n")[1]?.split("\n")).toEqual([
    "- slow: s is 3.0, the goal at most 2.0",
    "- slow: ratio is 1.50, the goal at least 2.00 and at most 4.00",
  ]);
});

test("a figure that rounds to its goal meets the goal", () => {
  expect(
    scoreOf([tableOf([["edge", figure(1.1, 2, { atMost: 1.1 }), figure(1.104, 2, { atMost: 1.1 })]])]),
  ).toEqual({
    met: 2,
    goals: 2,
  });
});

test("an unmeasured figure does not meet its goal", () => {
  const table = tableOf([["broken", figure(Number.NaN, 2, { atMost: 1 }), figure(Number.NaN, 2)]]);
  expect(scoreOf([table])).toEqual({ met: 0, goals: 1 });
  expect(renderFigures(table)).toContain("- broken: s is not measured, the goal at most 1.00");
});

const KNOWN = ["export", "jobs"];

test.each<[args: string[], choice: Partial<Choice>]>([
  [[], { names: null, isQuick: false, isWritten: true, notesOnly: false }],
  [["--quick"], { names: null, isQuick: true, isWritten: false }],
  [["jobs"], { names: ["jobs"], isQuick: false, isWritten: false }],
  [["jobs", "export", "--write"], { names: ["jobs", "export"], isWritten: true }],
  [["--notes"], { names: null, isWritten: true, notesOnly: true }],
])("readChoice() parses the arguments %j", (args, choice) => {
  expect(readChoice(args, KNOWN)).toMatchObject({ ok: true, ...choice });
});

test.each<[args: string[], problem: string | null]>([
  [["--help"], null],
  [["toString"], 'Cannot run the benchmark "toString": there is none of that name'],
  [["--quick", "--write"], "Cannot write the figures of a quick run: they mean nothing"],
  [["--notes", "jobs"], "Cannot take anything beside --notes"],
])("readChoice() selects no benchmark for the arguments %j", (args, problem) => {
  expect(readChoice(args, KNOWN)).toEqual({ ok: false, problem });
});

test("readChoice() rejects an unknown option", () => {
  expect(readChoice(["--rows", "5"], KNOWN)).toMatchObject({ ok: false });
});
