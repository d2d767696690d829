/** Sends requests that no HTTP client would send. */

/**
 * Sends the text unchanged, then `drip` four times a second. Resolves to the whole response when the server closes the
 * connection.
 */
export async function sendRaw(port: number, text: string | Uint8Array, drip?: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  let timer: ReturnType<typeof setInterval> | undefined;
  await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open(socket) {
        socket.write(text);
        if (drip) timer = setInterval(() => socket.write(drip), 250);
      },
      data: (_, data) => {
        received += data.toString();
      },
      close() {
        clearInterval(timer);
        resolve(received);
      },
    },
  });
  return promise;
}
