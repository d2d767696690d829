/** Arithmetic of versions, MAJOR.MINOR.PATCH. */
import semver from "semver";
import type { ChangeType } from "../vocabulary.ts";

/** Maximum characters of a version. */
export const MAX_VERSION_LENGTH = 20;

/** Maximum digits of each number. A pattern cannot tell which numbers of 16 digits JavaScript holds exactly. */
export const MAX_VERSION_DIGITS = 15;

const PART = `(?:0|[1-9]\\d{0,${MAX_VERSION_DIGITS - 1}})`;

export const VERSION = new RegExp(`^${PART}\\.${PART}\\.${PART}$`);

/** True for three numbers without leading zeros. */
export function isVersion(text: string): boolean {
  return text.length <= MAX_VERSION_LENGTH && VERSION.test(text);
}

/** Returns the change type between two versions; a first version is `major`. */
export function changeTypeBetween(previous: string | null, version: string): ChangeType {
  if (previous === null) return "major";
  if (semver.major(previous) !== semver.major(version)) return "major";
  return semver.minor(previous) === semver.minor(version) ? "patch" : "minor";
}

/** Counts the versions below `version`. `versions` are in ascending order, so that a few comparisons find it. */
export function countBelow(version: string, versions: readonly string[]): number {
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (semver.lt(versions[middle] ?? version, version)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the highest of `versions`, which are in ascending order, below `version`, or null. */
export function versionBefore(version: string, versions: readonly string[]): string | null {
  return versions[countBelow(version, versions) - 1] ?? null;
}

/** Returns the next PATCH of `version` above all of its MAJOR.MINOR in `versions`; null if no number is left. */
export function nextPatch(version: string, versions: readonly string[]): string | null {
  const highest = semver.maxSatisfying([version, ...versions], `~${version}`);
  return increased(highest ?? version, "patch");
}

/** Returns the next MAJOR after all of `versions`, which must not be empty; null if no number is left. */
export function nextMajor(versions: readonly string[]): string | null {
  const highest = semver.maxSatisfying(versions, "*");
  return highest === null ? null : increased(highest, "major");
}

function increased(version: string, part: ChangeType): string | null {
  const next = semver.inc(version, part);
  return next !== null && isVersion(next) ? next : null;
}
