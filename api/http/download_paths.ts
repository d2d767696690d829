/** Which answers are files: they take as long as they take, and may be silent meanwhile. */

/** From the beginning: what a client writes into a query makes no file of a response, and has the time limits of others. */
const FILE_PATH = /^(?:https?:\/\/[^/?#]*)?\/api\/v1\/export\/(?:projects\/|jobs\/[^/?#]+\/download)/;

/** True for a URL or path of an export's or a download's file. */
export function isFilePath(url: string): boolean {
  return FILE_PATH.test(url);
}
