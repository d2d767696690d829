/** Keeps the bytes of in-memory responses, because Bun copies a body into a response and out of it again. */

/** Bun appends a body below this size to the buffer of the headers. */
const MAX_COPIED_BYTES = 15 * 1024;

const ENCODER = new TextEncoder();
const bodies = new WeakMap<Response, Uint8Array<ArrayBuffer>>();

/**
 * Creates a response that Bun sends in one piece, with its `Content-Length`. For any other long body, Bun sends each part of
 * each header separately, with about 70 system calls (https://github.com/oven-sh/bun/pull/41341).
 */
export function bytesResponse(body: string | Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  const bytes = typeof body === "string" ? ENCODER.encode(body) : body;
  const response = new Response(bytes.length < MAX_COPIED_BYTES ? bytes : inOnePiece(bytes), init);
  bodies.set(response, bytes);
  return response;
}

function inOnePiece(bytes: Uint8Array<ArrayBuffer>): ReadableStream {
  const pull = (controller: ReadableStreamDirectController) => {
    controller.write(bytes);
    controller.end();
  };
  return new ReadableStream({ type: "direct", pull }, { highWaterMark: bytes.length + 1 });
}

/** Returns the bytes of a response from `bytesResponse`; null for a stream, a file, or no body. */
export function bytesIn(response: Response): Uint8Array<ArrayBuffer> | null {
  return bodies.get(response) ?? null;
}
