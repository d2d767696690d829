/** Reads a JSON body before any handler does: its size, its type, its form (contract section 2). */
import { ApiError } from "../shared/errors.ts";
import { refuseInput } from "./validation_problems.ts";

/** 1 MiB (contract section 2). */
const MAX_BODY_BYTES = 1_048_576;

function tooLarge(): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", {
    message: `Cannot accept a body this large: the most is ${MAX_BODY_BYTES} bytes`,
    details: { maxSize: MAX_BODY_BYTES },
  });
}

/** Reads no further than the limit, whatever `Content-Length` says or does not say. */
async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The client left, or was cut off for being slow: no failure of ours, and nobody reads the answer.
    throw refuseInput([{ path: "", message: "the body did not come whole" }]);
  }
  return Buffer.concat(chunks, size);
}

function refuseOtherTypes(headers: Headers): void {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      message: "Cannot read a body of this content type: use application/json",
    });
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      message: "Cannot read a compressed body: send it without Content-Encoding",
    });
  }
}

/**
 * The JSON text of a request's body, checked to be JSON; `null` when there is none, which is no error by itself:
 * a route that needs a body says so in its schema.
 */
export async function readJsonText(request: Request): Promise<string | null> {
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) return null;
  refuseOtherTypes(request.headers);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    throw refuseInput([{ path: "", message: "the body is not JSON in UTF-8" }]);
  }
}
