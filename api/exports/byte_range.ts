/** Parses the range of bytes of a download (RFC 9110, Range and If-Range). */

import type { ByteRange } from "../../shared/artifacts/store.ts";

/**
 * Returns what to send of a file of `bytes` bytes: a part; everything, if there is no range, several, or a malformed
 * one, or `If-Range` is of another file; or nothing, if the range begins after the end.
 */
export function chooseRange(
  headers: Headers,
  file: { bytes: number; etag: string },
): ByteRange | "all" | "unsatisfiable" {
  const ifRange = headers.get("if-range");
  if (ifRange !== null && ifRange.trim() !== file.etag) return "all";
  const match = /^bytes *= *(\d*) *- *(\d*)$/i.exec((headers.get("range") ?? "").trim());
  const [, from = "", to = ""] = match ?? [];
  if (from === "" && to === "") return "all";
  const end = file.bytes - 1;
  if (from === "") {
    const length = Number(to);
    if (length === 0 || file.bytes === 0) return "unsatisfiable";
    return { first: Math.max(0, file.bytes - length), last: end };
  }
  const first = Number(from);
  const last = to === "" ? end : Number(to);
  if (to !== "" && last < first) return "all";
  return first > end ? "unsatisfiable" : { first, last: Math.min(last, end) };
}
