/** Load over HTTP: so many connections, each asking again as soon as it has its answer. */
import type { Socket } from "bun";

export interface Load {
  url: string;
  headers?: Readonly<Record<string, string>>;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requests: number;
  requestsPerSecond: number;
  /** Milliseconds that 99 of 100 answers took at most. */
  p99Ms: number;
}

interface Connection {
  sentAt: number;
  /** Bytes of the answer that are still to come; `null` before its head is there. */
  left: number | null;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");

/** Runs the load; throws when an answer is no 200 with a length. */
export async function runLoad({ url, headers = {}, connections, seconds }: Load): Promise<LoadResult> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${lines.join("")}\r\n`;
  const durations: number[] = [];
  const begun = performance.now();
  const deadline = begun + seconds * 1000;
  const ask = (socket: Socket<Connection>): void => {
    socket.data = { sentAt: performance.now(), left: null };
    socket.write(request);
  };
  const run = async (): Promise<void> => {
    const done = Promise.withResolvers<void>();
    await Bun.connect<Connection>({
      hostname,
      port: Number(port),
      data: { sentAt: 0, left: null },
      socket: {
        open: ask,
        data(socket, chunk) {
          try {
            if (!takeChunk(socket.data, chunk)) return;
          } catch (error) {
            done.reject(error);
            return;
          }
          const now = performance.now();
          durations.push(now - socket.data.sentAt);
          if (now < deadline) return ask(socket);
          done.resolve();
          socket.end();
        },
        error: (_, error) => done.reject(error),
        close: () => done.reject(new Error(`Cannot go on: ${host} has closed the connection`)),
      },
    });
    await done.promise;
  };
  await Promise.all(Array.from({ length: connections }, run));
  const elapsedSeconds = (performance.now() - begun) / 1000;
  const sorted = durations.toSorted((a, b) => a - b);
  return {
    requests: durations.length,
    requestsPerSecond: durations.length / elapsedSeconds,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

/** Counts a chunk in; true when the answer is whole. Heads come in one piece over loopback. */
function takeChunk(connection: Connection, chunk: Buffer): boolean {
  if (connection.left === null) {
    const end = chunk.indexOf(END_OF_HEAD);
    const head = chunk.subarray(0, end).toString("latin1");
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    if (!head.startsWith("HTTP/1.1 200 ") || length === undefined) {
      throw new Error(`Cannot measure: the answer is ${head.slice(0, 200)}`);
    }
    connection.left = Number(length) + end + END_OF_HEAD.length;
  }
  connection.left -= chunk.byteLength;
  return connection.left <= 0;
}
