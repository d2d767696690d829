/** A local catalog server whose responses the test controls. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CatalogServer extends AsyncDisposable {
  url: string;
  /** The headers of all requests so far. */
  requests: IncomingMessage["headers"][];
}

/** Starts the server on a free port. `answer` ends the response or leaves it open. */
export async function openCatalogServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<CatalogServer> {
  const requests: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // `address()` is an object because the server listens on a TCP port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api.json`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
