/** Tests that a replica is used only if it streams from this primary and has replayed the primary's position. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../../shared/process/log.ts";
import { API_APPLICATION } from "../../../sql/connection/application_names.ts";
import { openPool, type Pool, type Sql } from "../../../sql/connection/pool.ts";
import {
  Replica,
  readPrimaryPosition,
  type WalPosition,
  waitForReplay,
} from "../../../sql/connection/replica.ts";
import { openSlowProxy } from "../../helpers/network/slow_proxy.ts";
import { openReplicatedServer, type ReplicatedServer } from "../../helpers/postgres/replicated_server.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const TIMEOUT_MS = 250;
const HEALTHY = { timeoutMs: 20_000 };

let server: ReplicatedServer;
let primary: Pool;

beforeAll(async () => {
  server = await openReplicatedServer();
  primary = openTestPool(server.primaryUrl);
});

afterAll(async () => {
  await primary.end({ timeout: 1 });
  await server[Symbol.asyncDispose]();
});

function openTestPool(url: string): Pool {
  return openPool(url, { applicationName: "test-replica", max: 2 });
}

async function withPool(url: string, act: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = openTestPool(url);
  try {
    await act(pool);
  } finally {
    await pool.end({ timeout: 1 });
  }
}

function openTestReplica(url: string, primary: Pool): { replica: Replica; events: () => unknown[] } {
  const lines: { event?: string }[] = [];
  const log = createLog({
    level: "info",
    process: "test",
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const replica = new Replica(url, { primary, applicationName: API_APPLICATION, max: 1, log });
  return { replica, events: () => lines.map(({ event }) => event) };
}

test("stops waiting for and using a replica that no longer responds", async () => {
  await using proxy = await openSlowProxy(server.replicaUrl);
  const url = new URL(server.replicaUrl);
  url.port = new URL(proxy.origin).port;
  const { replica } = openTestReplica(url.href, primary);
  try {
    expect(await replica.catchUp(10_000)).not.toBeNull();
    proxy.stall();
    // Without a timeout, this call would hang.
    expect(await replica.catchUp(TIMEOUT_MS)).toBeNull();
    expect(replica.isUsed()).toBe(false);
    expect(await replica.catchUp(TIMEOUT_MS)).toBeNull();
  } finally {
    await replica.close();
  }
});

test("does not read from a replica that is disconnected from its primary, even if it is up to date", async () => {
  const { replica, events } = openTestReplica(server.replicaUrl, primary);
  try {
    await server.cutOff(true);
    expect(await replica.catchUp(10_000)).toBeNull();
    expect(events()).toEqual(["replica.behind"]);
    await server.cutOff(false);
    await waitFor(async () => (await replica.catchUp(10_000)) !== null);
    expect(events()).toEqual(["replica.behind", "replica.back"]);
  } finally {
    await replica.close();
  }
});

test("does not read from another database on the same server", async () => {
  const position = await readPrimaryPosition(primary);
  const url = new URL(server.replicaUrl);
  url.pathname = "/template1";
  await withPool(url.href, async (template) => {
    await expect(waitForReplay(template, position, HEALTHY)).rejects.toThrow("a replica of another database");
  });
  await waitForReplay(server.replica, position, HEALTHY);
});

test("names the missing grant if the role cannot read the replication status", async () => {
  await primary.unsafe("create role blind login password 'blind'");
  const position = await readPrimaryPosition(primary);
  await waitForReplay(server.replica, position, HEALTHY);
  const url = new URL(server.replicaUrl);
  url.username = "blind";
  url.password = "blind";
  await withPool(url.href, async (blind) => {
    await expect(waitForReplay(blind, position, HEALTHY)).rejects.toThrow("grant pg_read_all_stats");
  });
});

test("reads the WAL position in a read-only session, and writes nothing if all WAL is flushed", async () => {
  await withPool(server.primaryUrl, async (reader) => {
    const readPosition = () =>
      reader.begin("read only", (tx) => readPrimaryPosition(tx)) as Promise<WalPosition>;
    await primary`create table unflushed ()`;
    await waitForReplay(server.replica, await readPosition(), HEALTHY);
    // Retries, because the server occasionally writes WAL by itself.
    await waitFor(async () => {
      const { lsn } = await readPosition();
      return (await readPosition()).lsn === lsn;
    });
  });
});

test("returns no WAL position and logs the reason if the primary is a standby", async () => {
  const { replica, events } = openTestReplica(server.replicaUrl, server.replica);
  try {
    expect(await replica.readPosition()).toBeNull();
    expect(events()).toEqual(["replica.no_position"]);
  } finally {
    await replica.close();
  }
});

/** Waits until the standby has replayed `position`. Retries, because a standby does not stream immediately after it starts. */
async function waitUntilReplayed(standby: Sql, position: WalPosition): Promise<void> {
  const isReplayed = () =>
    waitForReplay(standby, position, HEALTHY)
      .then(() => true)
      .catch(() => false);
  await waitFor(isReplayed);
}

test("reads only from a replica on the new timeline after a switchover", async () => {
  await using server = await openReplicatedServer();
  await withPool(server.primaryUrl, async (former) => {
    const before = await readPrimaryPosition(former);
    await waitUntilReplayed(server.replica, before);
    await server.switchOver();
    const promoted = server.replica;
    await expect(waitForReplay(promoted, before, HEALTHY)).rejects.toThrow("not a replica, or was promoted");
    const after = await readPrimaryPosition(promoted);
    expect(after).toEqual({ ...before, lsn: after.lsn, timeline: before.timeline + 1 });
    await waitUntilReplayed(former, after);
    await expect(waitForReplay(former, before, HEALTHY)).rejects.toThrow(
      `does not stream timeline ${before.timeline} `,
    );
  });
});
