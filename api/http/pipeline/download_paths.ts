/** Paths of file downloads, which have no time limit and may send nothing for a while. */

/** Anchored at the start, so that a query cannot turn another response into a download without time limits. */
const FILE_PATH = /^(?:https?:\/\/[^/?#]*)?\/api\/v1\/export\/(?:projects\/|jobs\/[^/?#]+\/download)/;

/** Returns true for the URL or path of a dataset, a bundle or an artifact. */
export function isFilePath(url: string): boolean {
  return FILE_PATH.test(url);
}
