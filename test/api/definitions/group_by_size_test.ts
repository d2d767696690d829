import { expect, test } from "bun:test";
import { groupBySize } from "../../../api/definitions/group_by_size.ts";

test("groupBySize() groups neighbors up to the maximum and puts a larger item in its own group", () => {
  const group = (sizes: readonly number[]) => groupBySize(sizes, { sizeOf: (size) => size, max: 10 });
  expect(group([4, 6, 1, 30, 2, 3])).toEqual([[4, 6], [1], [30], [2, 3]]);
  expect(group([0, 0, 11])).toEqual([[0, 0], [11]]);
  expect(group([])).toEqual([]);
});
