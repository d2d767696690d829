/** Our API and its two peers of reads, on the same database. */
import type { BenchRun } from "./bench_run.ts";
import type { ComparedServers } from "./compare_loads.ts";
import { startOurs, startPeer } from "./servers.ts";

export async function startComparedServers(
  { command: { root } }: BenchRun,
  databaseUrl: string,
): Promise<ComparedServers & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const ours = started.use(await startOurs(databaseUrl));
  const fastify = started.use(await startPeer(root, { script: "fastify_reads", databaseUrl }));
  const hono = started.use(await startPeer(root, { script: "hono_reads", databaseUrl }));
  const all = started.move();
  return { ours, fastify, hono, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
