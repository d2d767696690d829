/** Runs the app behind a real socket. */
import { listen } from "../../../api/listen.ts";
import { openTestApp, type TestApp, type TestAppOptions } from "./app.ts";

export interface ListeningApp extends AsyncDisposable {
  app: TestApp;
  origin: string;
  port: number;
  /** Returns the number of requests in progress. */
  pending(): number;
}

export async function openListeningApp(options: TestAppOptions = {}): Promise<ListeningApp> {
  const app = await openTestApp(options);
  const server = listen(app.app, { host: "127.0.0.1", port: 0, trustProxy: 0 });
  const port = server.port ?? 0;
  return {
    app,
    port,
    pending: () => server.pendingRequests,
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await app[Symbol.asyncDispose]();
    },
  };
}
