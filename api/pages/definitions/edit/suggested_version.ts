/** The version that a document should have, by what has changed in it. */
import semver from "semver";
import type { Report } from "../../../definitions/batch/schemas.ts";

export interface SuggestedVersion {
  version: string;
  /** The version that the document is compared with. */
  against: string;
  bump: string;
  /** Whether the document's version is lower than the suggested one. */
  isHigher: boolean;
}

/**
 * Suggests a version from the changes since an earlier one. Null if there is no earlier version, if nothing has changed,
 * or if `own`, the draft being edited, is the only one to compare with.
 */
export function suggestVersion({ version, diff }: Report, own: string | null): SuggestedVersion | null {
  const { given } = version;
  if (given === null || diff === null || diff.against === own || diff.classified.length === 0) return null;
  const next = semver.inc(diff.against, diff.suggestedBump as semver.ReleaseType);
  if (next === null) return null;
  return {
    version: next,
    against: diff.against,
    bump: diff.suggestedBump,
    isHigher: semver.valid(given) !== null && semver.lt(given, next),
  };
}
