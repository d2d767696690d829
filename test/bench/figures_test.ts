import { expect, test } from "bun:test";
import { type FigureTable, figure, renderFigures, scoreOf } from "./figures.ts";

function tableOf(rows: FigureTable["rows"]): FigureTable {
  return { title: "Speed", header: ["what", "s", "ratio"], rows };
}

test("a table without goals has no column for them", () => {
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

test("a row says which goals its figures have, and whether it meets all of them", () => {
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

test("exactly the missed goals are listed below the table", () => {
  const table = tableOf([
    ["slow", figure(3.04, 1, { atMost: 2 }), figure(1.5, 2, { atLeast: 2, atMost: 4 })],
    ["fast", figure(1, 1, { atMost: 2 }), figure(3, 2, { atLeast: 2 })],
  ]);
  expect(renderFigures(table).split("Missed:\n\n")[1]?.split("\n")).toEqual([
    "- slow: s is 3.0, the goal at most 2.0",
    "- slow: ratio is 1.50, the goal at least 2.00 and at most 4.00",
  ]);
});

test("a figure on its goal meets it, and so does one that is shown as the goal", () => {
  expect(
    scoreOf([tableOf([["edge", figure(1.1, 2, { atMost: 1.1 }), figure(1.104, 2, { atMost: 1.1 })]])]),
  ).toEqual({
    met: 2,
    goals: 2,
  });
});

test("what could not be measured meets no goal", () => {
  const table = tableOf([["broken", figure(Number.NaN, 2, { atMost: 1 }), figure(Number.NaN, 2)]]);
  expect(scoreOf([table])).toEqual({ met: 0, goals: 1 });
  expect(renderFigures(table)).toContain("- broken: s is not measured, the goal at most 1.00");
});
