import { expect, test } from "bun:test";
import semver from "semver";
import { listIntervals, pickVersion } from "../../../shared/definitions/version_range.ts";
import type { DefinitionStatus } from "../../../shared/vocabulary.ts";
import { Chance, randomNumbers } from "../../helpers/random_numbers.ts";

const VERSIONS: readonly { version: string; status: DefinitionStatus }[] = [
  { version: "0.3.1", status: "published" },
  { version: "0.3.9", status: "published" },
  { version: "0.4.0", status: "published" },
  { version: "1.9.0", status: "published" },
  { version: "1.10.0", status: "published" },
  { version: "1.11.0", status: "deprecated" },
  { version: "2.0.0", status: "published" },
  { version: "3.1.0", status: "deprecated" },
  { version: "3.2.0", status: "deprecated" },
  { version: "4.0.0", status: "archived" },
  { version: "5.0.0", status: "draft" },
];

test.each([
  ["latest", "2.0.0"],
  ["^1.0.0", "1.10.0"],
  ["~1.9.0", "1.9.0"],
  ["^0.3.0", "0.3.9"],
  ["~0.3.0", "0.3.9"],
  [">=1.9.0", "2.0.0"],
  ["<=1.9.5", "1.9.0"],
  ["1.9.0", "1.9.0"],
  ["^3.0.0", "3.2.0"],
  [">=3.0.0", "3.2.0"],
  ["1.11.0", "1.11.0"],
  ["4.0.0", "4.0.0"],
  ["^4.0.0", null],
  ["5.0.0", null],
  ["^5.0.0", null],
  ["1.x", "1.10.0"],
  ["1.9", "1.9.0"],
  ["*", "2.0.0"],
  ["=1.9.0", "1.9.0"],
  ["=4.0.0", "4.0.0"],
  ["v1.9.0", "1.9.0"],
  ["<1.0.0", "0.4.0"],
  [">=0.3.0 <0.4.0", "0.3.9"],
  ["0.3.0 - 0.3.5", "0.3.1"],
  ["0.3.x || 1.9.x", "1.9.0"],
  ["newest", null],
  [" ", null],
  [`>=1.0.0 ${" ".repeat(60)}<2.0.0`, null],
  ["", null],
])("pickVersion(%j) returns %j", (range, version) => {
  expect(pickVersion(range, VERSIONS)?.version ?? null).toBe(version);
  expect(pickVersion(range, VERSIONS.toReversed())?.version ?? null).toBe(version);
});

test("pickVersion() picks a deprecated version if no version is published", () => {
  expect(pickVersion("latest", VERSIONS.slice(7))?.version).toBe("3.2.0");
  expect(pickVersion("latest", [])).toBeNull();
});

test("listIntervals() returns disjoint intervals that cover exactly the versions that npm's semver matches", () => {
  const chance = new Chance(randomNumbers(7));
  const part = () => chance.pick(["0", "1", "2", "3"]);
  const version = () => `${part()}.${part()}.${part()}${chance.pick(["", "", "", "-0", "-beta.1"])}`;
  const comparator = () =>
    chance.pick(["", "=", ">", ">=", "<", "<=", "~", "^"]) +
    chance.pick([version(), version(), `${part()}.x`, part(), "*"]);
  const alternative = () =>
    chance.pick([comparator(), `${comparator()} ${comparator()}`, `${version()} - ${version()}`]);
  const numbers = [0, 1, 2, 3, 4];
  const versions = numbers.flatMap((a) => numbers.flatMap((b) => numbers.map((c) => `${a}.${b}.${c}`)));
  for (let round = 0; round < 300; round += 1) {
    const range = chance.pick([alternative(), `${alternative()} || ${alternative()}`]);
    const intervals = listIntervals(range);
    const found = intervals.flatMap(({ from, to }) =>
      versions.filter((one) => semver.gte(one, from.join(".")) && semver.lt(one, to.join("."))),
    );
    expect([range, found]).toEqual([range, versions.filter((one) => semver.satisfies(one, range))]);
  }
  expect(listIntervals("newest")).toEqual([]);
  expect(listIntervals(Array(15).fill("<9").join("||"))).toHaveLength(1);
  const last = Number.MAX_SAFE_INTEGER;
  expect(listIntervals(`<=1.0.${last}`)).toMatchObject([{ to: [1, 0, last + 1] }]);
});
