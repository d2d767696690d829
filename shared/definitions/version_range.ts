/** The version that a range resolves to. */
import semver from "semver";
import type { DefinitionStatus } from "../vocabulary.ts";

/** Maximum characters of a range; longer texts match no version. */
export const MAX_RANGE_LENGTH = 60;

/** How to write a range, for messages. */
export const RANGE_FORMS = "1.2.0, ^1.2.0, ~1.2.0, 1.x, >=1.2.0 <2.0.0, ^1.0.0 || ^2.0.0 or latest";

/** True for `latest` and the ranges of npm, such as `1.2.3`, `^1.2.3`, `1.x`, `*`, `>=1.0.0 <2.0.0` and `1.x || 2.x`. */
export function isRange(text: string): boolean {
  return text === "latest" || parseRange(text) !== null;
}

/**
 * Returns the highest published version in range, else the highest deprecated one. An exact version also finds an archived
 * one. Null if none matches.
 */
export function pickVersion<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
): Candidate | null {
  const limits = parseRange(range === "latest" ? "*" : range);
  if (limits === null) return null;
  const exact = exactVersion(limits);
  if (exact !== null)
    return candidates.find(({ version, status }) => version === exact && status !== "draft") ?? null;
  return highest(limits, candidates, "published") ?? highest(limits, candidates, "deprecated");
}

function parseRange(text: string): semver.Range | null {
  const isWritten = text.trim() !== "" && text.length <= MAX_RANGE_LENGTH;
  return isWritten && semver.validRange(text) !== null ? new semver.Range(text) : null;
}

/** Returns the version of `1.2.3` and `=1.2.3`; null for a range of versions. */
function exactVersion({ set }: semver.Range): string | null {
  const [only] = set.length === 1 && set[0]?.length === 1 ? set[0] : [];
  return only?.operator === "" && only.semver instanceof semver.SemVer ? only.semver.version : null;
}

function highest<Candidate extends { version: string; status: DefinitionStatus }>(
  limits: semver.Range,
  candidates: readonly Candidate[],
  status: DefinitionStatus,
): Candidate | null {
  let best: Candidate | null = null;
  for (const candidate of candidates) {
    if (candidate.status !== status || !limits.test(candidate.version)) continue;
    if (best === null || semver.gt(candidate.version, best.version)) best = candidate;
  }
  return best;
}
