/** Runs reads that resolve references in the request's turn, with a time limit, until the client disconnects. */
import { RETRY_AFTER } from "../../../shared/error_details.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { limitStatements } from "../../../sql/connection/snapshot.ts";
import { withinTimeout } from "../../http/error_handler.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { requireWaiting } from "../../http/request_context.ts";

/** A callback that runs between two steps and throws an error to stop the work. */
export type OnStep = () => void;

/** Returns a callback that throws SERVICE_UNAVAILABLE with the message if it is called later than `maxMs` from now. */
export function limitTime(maxMs: number, message: string): OnStep {
  const deadline = performance.now() + maxMs;
  return () => {
    if (performance.now() <= deadline) return;
    throw new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter: RETRY_AFTER.queue });
  };
}

/** Time limit of a read, and of each of its statements. */
const MAX_READ_MS = 5_000;

const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.resolving(MAX_READ_MS / 1000);

/**
 * Runs `read` in a read-only transaction, in the request's turn for lists. `read` must call `onStep` between its steps. Throws
 * SERVICE_UNAVAILABLE if the read takes too long or the client has disconnected.
 */
export async function resolveInTurn<Result>(
  { sql, turns }: Pick<OperationDeps, "sql" | "turns">,
  request: Request,
  read: (tx: Sql, onStep: OnStep) => Promise<Result>,
): Promise<Result> {
  const readInTime = async () => {
    const requireTime = limitTime(MAX_READ_MS, TOO_LONG);
    const onStep = () => {
      requireWaiting(request);
      requireTime();
    };
    const { value } = await sql.begin("read only", async (tx) => {
      // Sent together with the first statement of `read` to save a round trip.
      const limited = limitStatements(tx, MAX_READ_MS);
      const [value] = await Promise.all([read(tx, onStep), limited]);
      return { value };
    });
    return value;
  };
  return turns.lists(request, () => withinTimeout(TOO_LONG, readInTime));
}
