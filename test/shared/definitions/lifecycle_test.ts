import { expect, test } from "bun:test";
import { allowedTransitions, allowsOperation } from "../../../shared/definitions/lifecycle.ts";
import { DEFINITION_STATUSES } from "../../../shared/vocabulary.ts";

test("a version moves from draft to archived one status at a time, and never back", () => {
  const moves = DEFINITION_STATUSES.map((status) => [status, ...allowedTransitions(status)]);
  expect(moves).toEqual([
    ["draft", "published"],
    ["published", "deprecated"],
    ["deprecated", "archived"],
    ["archived"],
  ]);
});

test.each([
  ["update", ["draft"]],
  ["delete", ["draft"]],
  ["retranslate", ["draft", "published", "deprecated"]],
  ["fork", ["published", "deprecated"]],
] as const)("%s is allowed for versions whose status is one of %j", (operation, states) => {
  expect(DEFINITION_STATUSES.filter((status) => allowsOperation(status, operation))).toEqual([...states]);
});
