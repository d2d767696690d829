/** Tests a pool whose connections break at random times. */
import { expect, test } from "bun:test";
import { isConnectionError, openPool, type Pool, sendCommit } from "../../../../sql/connection/pool.ts";
import { openSlowProxy } from "../../../helpers/network/slow_proxy.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { takeEveryConnection } from "../../../helpers/postgres/open_transactions.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

const CLIENTS = 12;
const RESETS = 40;
/** Minimum number of responses between two resets. */
const RESPONSES = 5;

interface Tally {
  responses: number;
  /** Number of responses with the result of another query. */
  wrong: number;
  /** Errors other than lost connections. */
  errors: unknown[];
}

/** Selects a number and records whether the response contains it. */
async function ask(sql: Pick<Pool, "unsafe">, tally: Tally, number: number): Promise<void> {
  const [row] = await sql.unsafe<{ number: number }[]>("select $1::int as number", [number]).execute();
  if (row?.number === number) tally.responses += 1;
  else tally.wrong += 1;
}

async function askOn(pool: Pool, { tally, stop }: { tally: Tally; stop: AbortSignal }): Promise<void> {
  for (let number = 0; !stop.aborted; number += 1) {
    const isLast = number % 3 === 2;
    const asked =
      number % 3 === 0
        ? ask(pool, tally, Math.floor(Math.random() * 2 ** 30))
        : pool.begin(isLast ? "read only" : "", async (tx) => {
            await ask(tx, tally, Math.floor(Math.random() * 2 ** 30));
            await Bun.sleep(Math.random() * 10);
            const last = Promise.all([ask(tx, tally, number), ask(tx, tally, -number)]);
            if (isLast) sendCommit(tx);
            await last;
          });
    await asked.catch((error: unknown) => {
      if (!isLost(error)) tally.errors.push(error);
    });
  }
}

/**
 * Returns whether the error is a lost connection. Connect timeouts do not count, because they occur only if a new connection starts
 * with bytes of the previous connection. The server does not respond to such bytes.
 */
function isLost(error: unknown): boolean {
  return (
    isConnectionError(error) &&
    !(error instanceof Error && "code" in error && error.code === "CONNECT_TIMEOUT")
  );
}

test("returns each query's own result or an error while connections break at random", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  const pool = openPool(url.href, { applicationName: "test-lost", max: 4 });
  const tally: Tally = { responses: 0, wrong: 0, errors: [] };
  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, () => askOn(pool, { tally, stop: stop.signal }));
  for (let resets = 0; resets < RESETS; resets += 1) {
    const before = tally.responses;
    await waitFor(() => tally.responses >= before + RESPONSES);
    proxy.reset();
  }
  stop.abort();
  await Promise.all(clients);
  await takeEveryConnection(pool);
  expect({ wrong: tally.wrong, errors: tally.errors }).toEqual({ wrong: 0, errors: [] });
  await pool.end({ timeout: 1 });
});
