/** Why a server cannot listen, in words. */

/** By the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "the address is not one of this machine",
  ENOTFOUND: "the address is not known",
};

/** Returns a line that says why `error` kept a server from listening. */
export function describeListenError(at: { host: string; port: number }, error: unknown): string {
  // Bun's error has no code if the name of a host cannot be resolved.
  const { code = "ENOTFOUND" } = error as { code?: string };
  return `Cannot listen on ${at.host}:${at.port}: ${REASONS[code] ?? code}`;
}
