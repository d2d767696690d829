/** The version that a range resolves to. */
import semver from "semver";
import type { DefinitionStatus } from "../vocabulary.ts";

const RANGE = /^(?:latest|(?:>=|<=|\^|~)?\d+\.\d+\.\d+)$/;
const EXACT_VERSION = /^\d+\.\d+\.\d+$/;

/** True for `latest`, `1.2.3`, `>=1.2.3`, `<=1.2.3`, `^1.2.3` and `~1.2.3`. */
export function isRange(text: string): boolean {
  return RANGE.test(text);
}

/**
 * Returns the highest published version in range, else the highest deprecated one. An exact version also finds an archived
 * one. Null if none matches.
 */
export function pickVersion<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
): Candidate | null {
  if (!isRange(range)) return null;
  if (EXACT_VERSION.test(range)) {
    return candidates.find(({ version, status }) => version === range && status !== "draft") ?? null;
  }
  return highest(range, candidates, "published") ?? highest(range, candidates, "deprecated");
}

function highest<Candidate extends { version: string; status: DefinitionStatus }>(
  range: string,
  candidates: readonly Candidate[],
  status: DefinitionStatus,
): Candidate | null {
  const limits = new semver.Range(range === "latest" ? "*" : range);
  let best: Candidate | null = null;
  for (const candidate of candidates) {
    if (candidate.status !== status || !limits.test(candidate.version)) continue;
    if (best === null || semver.gt(candidate.version, best.version)) best = candidate;
  }
  return best;
}
