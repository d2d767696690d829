/** The API with a probe of its event loop in the process. */
import { fileURLToPath } from "node:url";
import { chooseFreePort } from "../../deploy/local/ports.ts";
import { LOOP_PROBE_PORT, type LoopReading } from "./loop_probe.ts";
import { type BenchServer, startOurs } from "./servers.ts";

const HOST = "127.0.0.1";
const PROBE = fileURLToPath(new URL("loop_probe.ts", import.meta.url));

export interface ProbedServer extends BenchServer {
  /** Returns what the loop did since the last call. */
  readLoop: () => Promise<LoopReading>;
}

export async function startProbed(databaseUrl: string): Promise<ProbedServer> {
  const probePort = String(await chooseFreePort(HOST));
  const env = { [LOOP_PROBE_PORT]: probePort, BUN_OPTIONS: `--preload ${PROBE}` };
  const ours = await startOurs(databaseUrl, { env });
  const readLoop = async () => (await (await fetch(`http://${HOST}:${probePort}/`)).json()) as LoopReading;
  return { ...ours, readLoop };
}
