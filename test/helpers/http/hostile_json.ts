/** JSON whose parsing or rejection costs far more than its size suggests. */
import { MAX_JSON_VALUES } from "../../../api/http/body/json_limits.ts";

/** The maximum size of a body outside `/auth`. */
const MAX_BYTES = 1_048_576;

function nestedLists(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

function nestedObjects(depth: number): string {
  return `${'{"a":'.repeat(depth)}0${"}".repeat(depth)}`;
}

/** Returns bodies that are nested deeper than allowed, as a whole and in each of these members. */
export function deepBodies(members: readonly string[]): string[] {
  return [
    ...[100, 20_000, 500_000].map(nestedLists),
    ...[100, 20_000, 150_000].map(nestedObjects),
    ...["unknown", ...members].flatMap((name) =>
      [65, 20_000, 500_000].map((depth) => `{"${name}":${nestedLists(depth - 1)}}`),
    ),
    `{"a":"\\\\\\"]]","b":[{}, ${nestedObjects(20_000)}]}`,
    // Truncated bodies, which are invalid and as expensive to parse as complete bodies.
    "[".repeat(1_000_000),
    '{"a":'.repeat(200_000),
  ];
}

/** Bodies with more members or elements than allowed. */
export const WIDE_BODIES: readonly string[] = [
  `{${Array.from({ length: 80_000 }, (_, index) => `"${index.toString(36)}":0`).join()}}`,
  `{${Array.from({ length: 60_000 }, (_, index) => `"${index * 50_000}":0`).join()}}`,
  `{"ids":[${"0,".repeat(500_000)}0]}`,
  `{"ids":[${"[],".repeat(300_000)}[]]}`,
];

/** Returns invalid bodies with almost as many members or elements as allowed, and one with a name of 900 KB. */
export function wrongBodies(members: readonly string[]): string[] {
  const elements = `[${"{},".repeat(MAX_JSON_VALUES / 2 - 100)}{}]`;
  return [
    `{${Array.from({ length: MAX_JSON_VALUES - 100 }, (_, index) => `"k${index}":0`).join()}}`,
    `{"${"k".repeat(900_000)}":0}`,
    `{"ids":${elements}}`,
    ...members.map((name) => `{"${name}":${elements}}`),
  ];
}

/** Returns bodies with one long string in an unknown member or in one of these members, plain and escaped. */
export function longStrings(members: readonly string[]): string[] {
  const room = MAX_BYTES - 100;
  const texts = ["x".repeat(room), "\\u0041".repeat(room / 6), "\\n".repeat(room / 2), "é".repeat(room / 2)];
  return ["unknown", ...members].flatMap((name) => texts.map((text) => `{"${name}":"${text}"}`));
}
