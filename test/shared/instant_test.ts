import { expect, test } from "bun:test";
import fc from "fast-check";
import { addMilliseconds, parseInstant } from "../../shared/instant.ts";

test("parseInstant() reads ISO 8601 with an offset and truncates to milliseconds", () => {
  const cases: readonly [string, string][] = [
    ["2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20T10:00Z", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20t10:00:00z", "2026-11-20T10:00:00.000Z"],
    ["2026-11-20T10:00:00.1Z", "2026-11-20T10:00:00.100Z"],
    ["2026-11-20T10:00:00,1234Z", "2026-11-20T10:00:00.123Z"],
    ["2026-11-20T10:00:00.999999999Z", "2026-11-20T10:00:00.999Z"],
    ["2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00.000Z"],
    ["2026-11-20T10:00:00-0530", "2026-11-20T15:30:00.000Z"],
    ["2026-11-20T10:00:00+02", "2026-11-20T08:00:00.000Z"],
    // A plus sign that was not percent-encoded arrives as a space.
    ["2026-11-20T10:00:00 02:00", "2026-11-20T08:00:00.000Z"],
    ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ];
  for (const [given, expected] of cases) expect([given, parseInstant(given)]).toEqual([given, expected]);
});

test("parseInstant() rejects invalid times, dates without a time, and times without an offset", () => {
  const cases = [
    "",
    "now",
    "2026-11-20",
    "2026-11-20T10:00:00",
    "2026-11-20 10:00",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T10:60:00Z",
    "2026-11-20T10:00:60Z",
    "2026-11-20T10:00:00+24:00",
    "2026-11-20T10:00:00+02:60",
    "2026-11-20T10:00:00.Z",
    "1795168800000",
    "0000-06-01T00:00:00Z",
    "0001-01-01T00:00:00+05:00",
    "2026-11-20T10:00:00Z; drop table issues",
  ];
  for (const given of cases) expect([given, parseInstant(given)]).toEqual([given, null]);
});

test("parseInstant() accepts what Date.toISOString() returns for the years 1 to 9999", () => {
  const dates = fc.date({
    min: new Date("0001-01-01T00:00:00.000Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(fc.property(dates, (date) => parseInstant(date.toISOString()) === date.toISOString()));
});

test("addMilliseconds() carries over into larger units, up to the year", () => {
  expect(addMilliseconds("2026-01-01T00:00:00.000Z", -1)).toBe("2025-12-31T23:59:59.999Z");
});
