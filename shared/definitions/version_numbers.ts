/** Compares and increments versions of the form MAJOR.MINOR.PATCH. */
import semver from "semver";
import type { ChangeType } from "../vocabulary.ts";

/** The maximum number of characters of a version. */
export const MAX_VERSION_LENGTH = 20;

/** The maximum number of digits of each part. A pattern cannot tell which numbers of 16 digits JavaScript can represent exactly. */
export const MAX_VERSION_DIGITS = 15;

const PART = `(?:0|[1-9]\\d{0,${MAX_VERSION_DIGITS - 1}})`;

export const VERSION = new RegExp(`^${PART}\\.${PART}\\.${PART}$`);

/** Returns true for three numbers without leading zeros, separated by dots, within the limits above. */
export function isVersion(text: string): boolean {
  return text.length <= MAX_VERSION_LENGTH && VERSION.test(text);
}

/** Returns the change type between two versions. The first version is `major`. */
export function changeTypeBetween(previous: string | null, version: string): ChangeType {
  if (previous === null) return "major";
  if (semver.major(previous) !== semver.major(version)) return "major";
  return semver.minor(previous) === semver.minor(version) ? "patch" : "minor";
}

/** Returns the number of `versions` below `version`, by binary search. `versions` must be in ascending order. */
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

/** Returns the highest of `versions` below `version`, or null. `versions` must be in ascending order. */
export function versionBefore(version: string, versions: readonly string[]): string | null {
  return versions[countBelow(version, versions) - 1] ?? null;
}

/** Returns the next PATCH above `version` and above all `versions` with the same MAJOR.MINOR. Returns null if no number is left. */
export function nextPatch(version: string, versions: readonly string[]): string | null {
  const highest = semver.maxSatisfying([version, ...versions], `~${version}`);
  return increased(highest ?? version, "patch");
}

/** Returns the next MAJOR above all `versions`. Returns null if `versions` is empty or no number is left. */
export function nextMajor(versions: readonly string[]): string | null {
  const highest = semver.maxSatisfying(versions, "*");
  return highest === null ? null : increased(highest, "major");
}

function increased(version: string, part: ChangeType): string | null {
  const next = semver.inc(version, part);
  return next !== null && isVersion(next) ? next : null;
}
