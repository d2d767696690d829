import { expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { TcpSocket } from "../../../../api/http/pipeline/tcp_socket.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** Opens a TCP connection within this process. Returns both ends. */
async function openConnection(host: string) {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket)).listen(0, host);
  await waitFor(() => server.listening);
  const local = (server.address() as { port: number }).port;
  const client = connect(local, host);
  const ours = await accepted.promise;
  await waitFor(() => client.localPort);
  return {
    ours,
    client,
    socket: new TcpSocket({ peer: client.localPort ?? 0, local }),
    [Symbol.dispose]() {
      client.destroy();
      ours.destroy();
      server.close();
    },
  };
}

test.each(["127.0.0.1", "::1"])("TcpSocket counts what the client of %s has received", async (host) => {
  using connection = await openConnection(host);
  const { ours, client, socket } = connection;
  const before = socket.acknowledgedBytes() ?? Number.NaN;
  let received = 0;
  client.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  ours.write(Buffer.alloc(100_000));
  await waitFor(() => received === 100_000);
  await waitFor(() => socket.acknowledgedBytes() === before + 100_000);
});

test("after resetOnClose(), closing a connection with unread data resets it", async () => {
  using connection = await openConnection("127.0.0.1");
  const { ours, client, socket } = connection;
  client.pause();
  ours.write(Buffer.alloc(16 * 2 ** 20));
  const failed = Promise.withResolvers<NodeJS.ErrnoException>();
  client.on("error", (error) => failed.resolve(error));
  socket.resetOnClose();
  ours.destroy();
  client.resume();
  expect((await failed.promise).code).toBe("ECONNRESET");
});

test("TcpSocket reports null and changes nothing for a connection that this process does not have", () => {
  const socket = new TcpSocket({ peer: 1, local: 2 });
  socket.resetOnClose();
  expect(socket.acknowledgedBytes()).toBeNull();
});
