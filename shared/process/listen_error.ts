/** Describes why a server cannot listen. */

/** The reasons by error code. */
const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken",
  EACCES: "this user may not use the port",
  EADDRNOTAVAIL: "the address is not one of this machine",
  ENOTFOUND: "the address is not known",
};

/** Returns a line with the reason why a server cannot listen. */
export function describeListenError(at: { host: string; port: number }, error: unknown): string {
  // Bun's error has no code if a host name cannot be resolved.
  const { code = "ENOTFOUND" } = error as { code?: string };
  return `Cannot listen on ${at.host}:${at.port}: ${REASONS[code] ?? code}`;
}
