/** Free ports. */
import { createServer } from "node:net";

/**
 * Below the ports that Linux, macOS and Windows give to outgoing connections (from 32,768): a server that restarts on
 * its port never finds it taken by one of them.
 */
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;
const TRIES = 20;

/** Messages for common errors. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "the address is not one of this machine",
  ENOTFOUND: "the address is not known",
};

/** Returns why a server cannot listen on the port; null if it can. */
export function findListenProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message;
      resolve(`Cannot listen on ${host}:${port}: ${REASONS[code] ?? code}`);
    });
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

/** Returns a free port of `host`: `preferred` if it is free, else any. */
export async function chooseFreePort(host: string, preferred?: number): Promise<number> {
  const random = Array.from({ length: TRIES }, () => FIRST_PORT + Math.floor(Math.random() * PORT_COUNT));
  for (const port of preferred ? [preferred, ...random] : random) {
    if ((await findListenProblem(host, port)) === null) return port;
  }
  throw new Error(`Cannot find a free port on ${host}`);
}
