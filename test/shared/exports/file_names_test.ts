import { expect, test } from "bun:test";
import fc from "fast-check";
import { contentDisposition, sanitizeProjectName } from "../../../shared/exports/file_names.ts";

test("sanitizeProjectName() returns a file name that every operating system accepts", () => {
  const cases: readonly [string, string][] = [
    ["express", "express"],
    ["My Project!", "My-Project"],
    ["a  /  b", "a-b"],
    ["..hidden..", "hidden"],
    ["../../etc/passwd", "etc-passwd"],
    ["ｆｕｌｌ　ｗｉｄｔｈ", "full-width"],
    ["Größe", "Gro-e"],
    ["Café", "Cafe"],
    ["Cafe\u0301", "Cafe"],
    ["Ťažký Åčęñtś", "Tazky-Acents"],
    [`${"x".repeat(79)}é`, `${"x".repeat(79)}e`],
    ["支払い", "project"],
    ["ガ", "project"],
    ["漢字", "project"],
    ["", "project"],
    ["CON", "project"],
    ["nul", "project"],
    ["COM1", "project"],
    ["aux.js", "project"],
    ["console", "console"],
    ["x".repeat(200), "x".repeat(80)],
    ["snake_case.v1-2", "snake_case.v1-2"],
  ];
  for (const [name, expected] of cases) expect([name, sanitizeProjectName(name)]).toEqual([name, expected]);
});

test("sanitizeProjectName() returns only safe path segments", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) =>
      /^[A-Za-z0-9_][A-Za-z0-9._-]{0,79}$/.test(sanitizeProjectName(name)),
    ),
  );
});

test("contentDisposition() returns a safe ASCII name and the full name, percent-encoded", () => {
  expect(contentDisposition({ ascii: "x.csv", full: "Größe (1)/'x'\r\n.csv" })).toBe(
    "attachment; filename=\"x.csv\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29-%27x%27--.csv",
  );
});
