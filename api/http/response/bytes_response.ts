/** Responses whose bytes are in memory, and stay there: Bun copies a body into a response and out of it again. */

/** Bun copies a shorter body behind its headers. */
const MAX_COPIED_BYTES = 15 * 1024;

const bodies = new WeakMap<Response, Uint8Array<ArrayBuffer>>();

/**
 * Makes a response that Bun sends in one piece, with its `Content-Length`. Before any other long body it sends every piece of
 * every header by itself, some 70 system calls (https://github.com/oven-sh/bun/pull/41341).
 */
export function bytesResponse(bytes: Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
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

/** Returns the response as `bytesResponse` makes it, and its bytes. */
export async function inMemory(
  response: Response,
): Promise<{ response: Response; bytes: Uint8Array<ArrayBuffer> }> {
  const known = bodies.get(response);
  if (known) return { response, bytes: known };
  const bytes = new Uint8Array(await response.arrayBuffer());
  const { status, headers } = response;
  return { response: bytesResponse(bytes, { status, headers }), bytes };
}
