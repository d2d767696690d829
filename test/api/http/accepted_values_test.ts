import { expect, test } from "bun:test";
import { parseAcceptedValues } from "../../../api/http/accepted_values.ts";

test("parseAcceptedValues() returns values and weights in their original order", () => {
  expect(parseAcceptedValues(" GZIP;q=0.5 , zstd;level=1; Q=0,identity,br;q=,*;q=high")).toEqual([
    { value: "gzip", weight: 0.5 },
    { value: "zstd", weight: 0 },
    { value: "identity", weight: 1 },
    { value: "br", weight: 0 },
    { value: "*", weight: Number.NaN },
  ]);
});

test("parseAcceptedValues() returns one empty value for an empty or missing header", () => {
  expect([null, ""].map(parseAcceptedValues)).toEqual([
    [{ value: "", weight: 1 }],
    [{ value: "", weight: 1 }],
  ]);
});
