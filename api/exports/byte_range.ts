/** The part of a file that a client asks for to resume a download: `Range` and `If-Range`. */
import type { ByteRange } from "../../shared/artifacts/store.ts";
import { ApiError } from "../../shared/errors.ts";

/** Returns the requested range; null for the whole file. Throws if it begins after the end. */
export function byteRangeOf(
  headers: Headers,
  method: string,
  { bytes, sha256 }: { bytes: number; sha256: string },
): ByteRange | null {
  // Ranges are not defined for HEAD (RFC 9110).
  const range = method === "GET" ? chooseRange(headers, { bytes, etag: `"${sha256}"` }) : "all";
  if (range === "unsatisfiable") {
    throw new ApiError("RANGE_NOT_SATISFIABLE", {
      details: { bytes },
      headers: { "Content-Range": `bytes */${bytes}`, "Accept-Ranges": "bytes" },
    });
  }
  return range === "all" ? null : range;
}

/**
 * Returns what to send of a file of `bytes` bytes: a part; everything, if there is no range, several, or a malformed
 * one, or `If-Range` is of another file; or nothing, if the range begins after the end.
 */
function chooseRange(
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
