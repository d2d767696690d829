/** Resolves version ranges. */
import semver from "semver";
import type { DefinitionStatus } from "../vocabulary.ts";
import { MAX_VERSION_DIGITS } from "./version_numbers.ts";

/** The maximum number of characters of a range. Longer texts match no version. */
export const MAX_RANGE_LENGTH = 60;

/** Examples of ranges, for messages. */
export const RANGE_FORMS = "1.2.0, ^1.2.0, ~1.2.0, 1.x, >=1.2.0 <2.0.0, ^1.0.0 || ^2.0.0 or latest";

/** Returns true for `latest` and npm ranges, such as `1.2.3`, `^1.2.3`, `1.x`, `*`, `>=1.0.0 <2.0.0` and `1.x || 2.x`. */
export function isRange(text: string): boolean {
  return text === "latest" || parseRange(text) !== null;
}

/**
 * Returns the highest published version in the range, or else the highest deprecated version. An exact version may also be
 * archived. Returns null if no version matches.
 */
export function pickVersion<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
): Candidate | null {
  const limits = parseReferenceRange(range);
  if (limits === null) return null;
  const exact = exactVersion(limits);
  if (exact !== null)
    return candidates.find(({ version, status }) => version === exact && status !== "draft") ?? null;
  return highest(limits, candidates, "published") ?? highest(limits, candidates, "deprecated");
}

/** MAJOR, MINOR and PATCH. */
type VersionNumbers = readonly [number, number, number];

/** The versions from `from` (inclusive) to `to` (exclusive). */
export interface VersionInterval {
  from: VersionNumbers;
  to: VersionNumbers;
}

const ALL_VERSIONS: VersionInterval = { from: [0, 0, 0], to: [10 ** MAX_VERSION_DIGITS, 0, 0] };

/** Returns the intervals of a range, in ascending order and without overlaps. Returns none if the text is not a range. */
export function listIntervals(range: string): VersionInterval[] {
  const alternatives = parseReferenceRange(range)?.set ?? [];
  const intervals = alternatives
    .map((comparators) =>
      comparators
        .map(toInterval)
        .reduce(
          (one, other) => ({ from: higher(one.from, other.from), to: lower(one.to, other.to) }),
          ALL_VERSIONS,
        ),
    )
    .sort((one, other) => compareNumbers(one.from, other.from));
  const merged: VersionInterval[] = [];
  for (const interval of intervals) {
    const last = merged.at(-1);
    if (last && compareNumbers(interval.from, last.to) < 0) last.to = higher(last.to, interval.to);
    else merged.push({ ...interval });
  }
  return merged;
}

function toInterval({ operator, semver: limit }: semver.Comparator): VersionInterval {
  if (!(limit instanceof semver.SemVer)) return ALL_VERSIONS;
  const { major, minor, patch, prerelease } = limit;
  const at: VersionNumbers = [major, minor, patch];
  // Definition versions have no prereleases, so the first version after 1.0.0-beta is 1.0.0.
  const after: VersionNumbers = prerelease.length > 0 ? at : [major, minor, patch + 1];
  switch (operator) {
    case ">":
      return { ...ALL_VERSIONS, from: after };
    case ">=":
      return { ...ALL_VERSIONS, from: at };
    case "<":
      return { ...ALL_VERSIONS, to: at };
    case "<=":
      return { ...ALL_VERSIONS, to: after };
    default:
      return { from: at, to: after };
  }
}

function compareNumbers(one: VersionNumbers, other: VersionNumbers): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

function higher(one: VersionNumbers, other: VersionNumbers): VersionNumbers {
  return compareNumbers(one, other) > 0 ? one : other;
}

function lower(one: VersionNumbers, other: VersionNumbers): VersionNumbers {
  return compareNumbers(one, other) < 0 ? one : other;
}

function parseReferenceRange(range: string): semver.Range | null {
  return parseRange(range === "latest" ? "*" : range);
}

function parseRange(text: string): semver.Range | null {
  const isWritten = text.trim() !== "" && text.length <= MAX_RANGE_LENGTH;
  return isWritten && semver.validRange(text) !== null ? new semver.Range(text) : null;
}

/** Returns the version of an exact range such as `1.2.3` or `=1.2.3`; null for any other range. */
function exactVersion({ set }: semver.Range): string | null {
  const [only] = set.length === 1 && set[0]?.length === 1 ? set[0] : [];
  return only?.operator === "" && only.semver instanceof semver.SemVer ? only.semver.version : null;
}

function highest<Candidate extends { version: string; status: DefinitionStatus }>(
  limits: semver.Range,
  candidates: readonly Candidate[],
  status: DefinitionStatus,
): Candidate | null {
  const ofStatus = candidates.filter((candidate) => candidate.status === status);
  const versions = ofStatus.map(({ version }) => version);
  const best = semver.maxSatisfying(versions, limits);
  return ofStatus.find(({ version }) => version === best) ?? null;
}
