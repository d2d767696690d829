/** Limits, per process, on work that can hold database connections for a long time. */
import { RETRY_AFTER } from "../shared/error_details.ts";
import { TEXTS } from "../shared/error_texts.ts";
import { ApiError } from "../shared/errors.ts";
import type { Config } from "../shared/process/config.ts";
import { beginAndRetry } from "../sql/connection/database_fault.ts";
import type { Pool, Transaction } from "../sql/connection/pool.ts";
import { FairQueue, type Refusal } from "./http/limits/fair_queue.ts";
import { isRequestOver, requestContext } from "./http/request_context.ts";

/** Publications wait for the `dependencyGraph` lock, each with a connection. They get at most half of the connections. */
export const PUBLICATIONS_MAX = 4;
export const PUBLICATIONS_WAITING_MAX = 20;

/** Maximum waiting definition lists of one caller. A list takes milliseconds, and a waiting list uses only memory. */
export const LISTS_WAITING_MAX = 100;

/** Maximum waiting writes of one caller. Some hold a document in memory. */
export const WRITES_WAITING_MAX = 100;

/**
 * Runs a task in the turn of the request's user, or of the client's network for an anonymous request. One caller can run half
 * of the concurrent tasks. Throws RATE_LIMITED if too many of the caller's tasks are waiting. If the request is over before its
 * turn, throws SERVICE_UNAVAILABLE without running the task.
 */
type RunInTurn = <Result>(request: Request, task: () => Promise<Result>) => Promise<Result>;

export interface Turns {
  /** Shared by publications, validations and batches. */
  publications: RunInTurn;
  /**
   * Execution records. Records of one definition wait for each other, each with a connection. All get at most half of the
   * connections.
   */
  recordings: RunInTurn;
  /**
   * Other writes. Writes to one organization, definition line or version wait for each other, each with a connection. They get
   * at most half of the connections, and one caller half of that share.
   */
  writes: RunInTurn;
  /**
   * Sign-in, sign-out, and changes to the caller's own account. They are short and wait for no other kind of write, so a thief
   * with a stolen key cannot keep its owner from revoking it.
   */
  accounts: RunInTurn;
  /**
   * Definition lists, and reads that resolve references. They get at most half of the connections, and one caller half of that
   * share, so slow reads do not delay other requests.
   */
  lists: RunInTurn;
}

export function createTurns({ databasePoolMax }: Pick<Config, "databasePoolMax">): Turns {
  const half = Math.ceil(databasePoolMax / 2);
  const publications = Math.min(PUBLICATIONS_MAX, Math.max(1, Math.floor(databasePoolMax / 2)));
  return {
    publications: takeTurns("publications", { max: publications, maxWaiting: PUBLICATIONS_WAITING_MAX }),
    recordings: takeTurns("recordings of executions", { max: half, maxWaiting: 200 }),
    writes: takeTurns("writes", { max: half, maxWaiting: WRITES_WAITING_MAX }),
    accounts: takeTurns("changes of accounts", { max: half, maxWaiting: WRITES_WAITING_MAX }),
    lists: takeTurns("lists and dependencies of definitions", { max: half, maxWaiting: LISTS_WAITING_MAX }),
  };
}

/**
 * Runs the transaction of a write in the caller's turn, and retries it after a deadlock. Every write of an operation uses this
 * function or `turns`, so that writes that wait for a lock leave connections to other requests. Do not call it in a turn or a
 * transaction, because it could wait for itself.
 */
export type WriteInTurn = <Result>(
  request: Request,
  transaction: (tx: Transaction) => Promise<Result>,
) => Promise<Result>;

export function createWriteInTurn(sql: Pool, runInTurn: RunInTurn): WriteInTurn {
  return <Result>(request: Request, transaction: (tx: Transaction) => Promise<Result>) =>
    runInTurn(request, () => beginAndRetry(sql, transaction));
}

/** `what` is the plural noun for the error message. */
function takeTurns(what: string, { max, maxWaiting }: { max: number; maxWaiting: number }): RunInTurn {
  const maxPerCaller = Math.max(1, Math.floor(max / 2));
  const queue = new FairQueue({ max, maxPerCaller, maxWaiting });
  const limit = maxPerCaller + maxWaiting;
  const message = TEXTS.RATE_LIMITED.turns({ what, limit });
  return (request, task) => {
    const { caller, network } = requestContext(request);
    const refuse = (reason: Refusal) => {
      if (reason === "over") return new ApiError("SERVICE_UNAVAILABLE", { retryAfter: RETRY_AFTER.queue });
      const details = { share: caller ? "user" : "network", limit };
      return new ApiError("RATE_LIMITED", { message, details });
    };
    const isOver = () => isRequestOver(request);
    return queue.run({ caller: caller?.userId ?? network, refuse, isOver }, task);
  };
}
