/** The limits of one process for work that may hold connections for long. */
import { RETRY_AFTER } from "../shared/error_details.ts";
import { TEXTS } from "../shared/error_texts.ts";
import { ApiError } from "../shared/errors.ts";
import type { Config } from "../shared/process/config.ts";
import { beginAndRetry } from "../sql/connection/database_fault.ts";
import type { Pool, Transaction } from "../sql/connection/pool.ts";
import { FairQueue, type Refusal } from "./http/limits/fair_queue.ts";
import { isRequestOver, requestContext } from "./http/request_context.ts";

/** Publications wait for each other (`dependencyGraph`), each with a connection: they get less than half of those. */
export const PUBLICATIONS_MAX = 4;
export const PUBLICATIONS_WAITING_MAX = 20;

/** Lists of definitions of a caller that may wait. A list takes milliseconds, and a waiting one costs only memory. */
export const LISTS_WAITING_MAX = 100;

/** Writes of a caller that may wait, some with a document. */
export const WRITES_WAITING_MAX = 100;

/**
 * Runs a task of a request when it is the turn of its user, or of its network if it is anonymous. One caller may have half
 * of the places. Throws RATE_LIMITED if too many of the caller's tasks wait, and SERVICE_UNAVAILABLE without running the
 * task if the request is over by then.
 */
type RunInTurn = <Result>(request: Request, task: () => Promise<Result>) => Promise<Result>;

export interface Turns {
  /** Publications, validations and batches share them. */
  publications: RunInTurn;
  /** Those of one definition wait for each other, each with a connection: they get at most half of those. */
  recordings: RunInTurn;
  /**
   * Other writes. Those of one organization, line or version wait for each other, each with a connection: they get at most half
   * of those, and a caller half of that.
   */
  writes: RunInTurn;
  /**
   * Signing in and out, and changes to one's own account. They are short and wait for no other kind of write, so a
   * thief with a stolen key cannot keep its owner from revoking it.
   */
  accounts: RunInTurn;
  /**
   * Lists of definitions, and reads that resolve references, get at most half of the connections, and a caller half of those,
   * so that slow ones keep no other request waiting.
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
 * Runs the transaction of a write in its caller's turn, and again after a deadlock. Every write of an operation goes through
 * here or `turns`, so that those that wait for a lock leave connections to other requests. Do not call it in a turn or a
 * transaction: it might wait for itself.
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
