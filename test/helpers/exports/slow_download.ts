/** Downloads over a socket that reads on demand, and keeps the received bytes if the connection breaks. */
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { waitFor } from "../wait_for.ts";

/** The number of bytes to read before the pause, far fewer than the service has sent by then. */
const FIRST_BYTES = 64 * 1024;
const HEAD_END = "\r\n\r\n";
/** The end of a chunked body (RFC 9112, section 7.1). */
const LAST_CHUNK = "\r\n0\r\n\r\n";

export interface DownloadResult {
  status: number;
  headers: Headers;
  /** The body as received. A chunked body still has its chunk headers. */
  body: Buffer;
  /** True if the complete body arrived. */
  isWhole: boolean;
}

export interface SlowDownload extends Disposable {
  /** Returns true while the kernel still has the service's socket of the connection, in any TCP state. */
  isHeld(): Promise<boolean>;
  /** Reads the rest of the response until the connection is closed. Rejects if the header section is incomplete. */
  readOn(): Promise<DownloadResult>;
}

/** Starts a download, reads its first bytes and pauses. */
export async function beginDownload(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<SlowDownload> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isClosed = false;
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    const before = bytes;
    bytes += chunk.length;
    if (before < FIRST_BYTES && bytes >= FIRST_BYTES) socket.pause();
  });
  const lines = Object.entries({ host, connection: "close", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write([`GET ${pathname}${search} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  await waitFor(() => bytes >= FIRST_BYTES || isClosed);
  const ours = `${hexPort(Number(port))} [0-9A-F]+:${hexPort(socket.localPort ?? 0)} `;
  return {
    isHeld: async () => new RegExp(`:${ours}`).test(await readFile("/proc/net/tcp", "latin1")),
    async readOn() {
      socket.resume();
      await waitFor(() => isClosed);
      return parseResponse(Buffer.concat(chunks));
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Formats a port as /proc/net/tcp does. */
function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

function parseResponse(response: Buffer): DownloadResult {
  const end = response.indexOf(HEAD_END);
  if (end < 0) throw new Error("Cannot read the answer: the connection broke before the end of its head");
  const [statusLine = "", ...lines] = response.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: */, 2) as [string, string]));
  const body = response.subarray(end + HEAD_END.length);
  const length = headers.get("content-length");
  const isWhole =
    length === null
      ? body.subarray(-LAST_CHUNK.length).toString() === LAST_CHUNK
      : body.length === Number(length);
  return { status: Number(statusLine.split(" ")[1]), headers, body, isWhole };
}
