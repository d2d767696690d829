/** Reads that resolve references: in turns, for some seconds at most, and no longer than the client waits. */
import { RETRY_AFTER } from "../../../shared/error_details.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { limitStatements } from "../../../sql/connection/snapshot.ts";
import { withinTimeout } from "../../http/error_handler.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { requireWaiting } from "../../http/request_context.ts";

/** Called between two steps. Throws to prevent the next one. */
export type OnStep = () => void;

/** Throws SERVICE_UNAVAILABLE with the message if a step ends later than `maxMs` from now. */
export function limitTime(maxMs: number, message: string): OnStep {
  const deadline = performance.now() + maxMs;
  return () => {
    if (performance.now() <= deadline) return;
    throw new ApiError("SERVICE_UNAVAILABLE", { message, retryAfter: RETRY_AFTER.queue });
  };
}

/** Time for one read, and for one statement of it. */
const MAX_READ_MS = 5_000;

const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.resolving(MAX_READ_MS / 1000);

/**
 * Runs `read` in a transaction when it is the turn of the request, as lists are. `read` calls `onStep` between its steps.
 * Throws SERVICE_UNAVAILABLE if it takes too long, or if the request is over.
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
      // Sent together with the first statement of `read`, which saves a round trip.
      const limited = limitStatements(tx, MAX_READ_MS);
      const [value] = await Promise.all([read(tx, onStep), limited]);
      return { value };
    });
    return value;
  };
  return turns.lists(request, () => withinTimeout(TOO_LONG, readInTime));
}
