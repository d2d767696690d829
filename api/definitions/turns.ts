/** The limits of one process for work on definitions that holds connections for long. */
import type { Config } from "../../shared/process/config.ts";
import { Turns } from "../http/limits/fair_queue.ts";

/** Publications wait for each other (`dependencyGraph`), each with a connection: they get less than half of those. */
export const PUBLICATIONS_MAX = 4;

/** Lists of a caller that may wait. A list takes milliseconds, and a waiting one costs only memory. */
export const LISTS_WAITING_MAX = 100;

export interface DefinitionTurns {
  /** Publications, validations and batches share them. */
  publications: Turns;
  /** Those of one definition wait for each other, each with a connection: they get at most half of those. */
  recordings: Turns;
  /** Lists get at most half of the connections, and a caller half of those, so that slow ones keep no other request waiting. */
  lists: Turns;
}

export function createDefinitionTurns({ databasePoolMax }: Pick<Config, "databasePoolMax">): DefinitionTurns {
  const half = Math.ceil(databasePoolMax / 2);
  const publications = Math.min(PUBLICATIONS_MAX, Math.max(1, Math.floor(databasePoolMax / 2)));
  return {
    publications: new Turns({ max: publications, what: "publications" }),
    recordings: new Turns({ max: half, maxWaiting: 200, what: "recordings of executions" }),
    lists: new Turns({ max: half, maxWaiting: LISTS_WAITING_MAX, what: "lists of definitions" }),
  };
}
