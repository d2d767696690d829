/** Our API and its two peers of reads, on the same database, to which another client commits all the time. */
import type { Pool } from "../../sql/connection/pool.ts";
import type { TestDatabase } from "../helpers/postgres/database.ts";
import type { BenchRun } from "./bench_run.ts";
import type { ComparedServers } from "./compare_loads.ts";
import { findPostmaster } from "./process_cpu.ts";
import { startOurs, startPeer } from "./servers.ts";

/** A busy tracker: what a server keeps while nothing is committed does not help it. */
const COMMITS_PER_SECOND = 200;
const COMMIT_TICK_MS = 5;

export async function startComparedServers(
  { command: { root } }: BenchRun,
  { url: databaseUrl, sql, owner }: TestDatabase,
): Promise<ComparedServers & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const ours = started.use(await startOurs(databaseUrl));
  const fastify = started.use(await startPeer(root, { script: "fastify_reads", databaseUrl }));
  const hono = started.use(await startPeer(root, { script: "hono_reads", databaseUrl }));
  started.use(await commitSteadily(owner));
  const postmaster = await findPostmaster(sql);
  const all = started.move();
  return { ours, fastify, hono, postmaster, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Commits transactions at a steady rate until it is disposed. */
async function commitSteadily(sql: Pool): Promise<AsyncDisposable> {
  await sql`create table bench_commits (id bigint generated always as identity, at timestamptz not null default now())`;
  const start = performance.now();
  const running = new Set<Promise<unknown>>();
  let committed = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) / 1000) * COMMITS_PER_SECOND);
    for (; committed < due; committed += 1) {
      const commit = sql`insert into bench_commits default values`.finally(() => running.delete(commit));
      running.add(commit);
    }
  }, COMMIT_TICK_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.allSettled(running);
    },
  };
}
