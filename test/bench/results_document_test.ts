import { expect, test } from "bun:test";
import { figure } from "./figures.ts";
import { composeDocument, findOtherFact, readDocument, renderSection } from "./results_document.ts";

const FACTS = { CPU: "Some processor, 2 cores", PostgreSQL: "18.4" };

function sectionOf(name: string, ratio: number): string {
  return renderSection({
    name,
    title: `the ${name}`,
    about: "Against a peer.",
    measuredAt: new Date("2026-11-20T10:11:12Z"),
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

test("a section says when it was measured and how many goals it meets", () => {
  const [heading, , about, , status] = sectionOf("export", 0.5).split("\n");
  expect(heading).toBe("## export: the export");
  expect(about).toBe("Against a peer.");
  expect(status).toBe("Measured 2026-11-20 10:11 UTC in 61 s; load before 0.13; 1 of 1 goals met.");
});

test("a document is read back as it was composed", () => {
  const document = composeDocument({ facts: FACTS, sections: SECTIONS }, {});
  expect(readDocument(document)).toEqual({ facts: FACTS, sections: SECTIONS });
});

test("the head counts the goals of all sections, and lists their dates", () => {
  const [head = ""] = composeDocument({ facts: FACTS, sections: SECTIONS }, {}).split("\n## ");
  expect(head).toContain("- CPU: Some processor, 2 cores\n- PostgreSQL: 18.4\n");
  expect(head).toContain("1 of 2 goals met:");
  const lines = head.split("\n").filter((line) => line.startsWith("| jobs"));
  expect(lines.map((line) => line.split("|").map((cell) => cell.trim()))).toEqual([
    ["", "jobs: the jobs", "2026-11-20 10:11", "0.13", "0 of 1", ""],
  ]);
});

test("notes stand below their section, and take the place of those that were there", () => {
  const first = composeDocument({ facts: FACTS, sections: SECTIONS }, { jobs: "It was Monday.\n" });
  expect(first.endsWith("\n\n### Notes\n\nIt was Monday.\n")).toBe(true);
  const second = composeDocument(readDocument(first), { jobs: "It was Tuesday." });
  expect(second).toBe(first.replace("Monday", "Tuesday"));
  expect(composeDocument(readDocument(second), {})).toBe(
    composeDocument({ facts: FACTS, sections: SECTIONS }, {}),
  );
});

test("sections of another machine show the difference, and an empty document names no machine", () => {
  const old = readDocument(composeDocument({ facts: FACTS, sections: SECTIONS }, {}));
  expect(findOtherFact(old, FACTS)).toBeNull();
  expect(findOtherFact(old, { ...FACTS, PostgreSQL: "15.9" })).toBe("PostgreSQL");
  expect(findOtherFact(readDocument(""), FACTS)).toBeNull();
});
