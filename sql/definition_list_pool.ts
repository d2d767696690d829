/** Connections for lists of definitions, in sessions of their own: what makes a planner find those fast harms others. */
import { API_APPLICATION } from "./connections.ts";
import { openPool, type Pool } from "./pool.ts";

/** Enough to keep the one thread of an API busy; lists that are costly keep no other request waiting. */
export const LIST_CONNECTIONS_MAX = 4;

/**
 * The planner cannot know how many bits are set: workers, compiled code, sorting everything, reading small tables whole
 * for every row, and planning anew each time cost more than the page. Two letters in each other's place leave few
 * trigrams of a short word.
 */
const SETTINGS = {
  max_parallel_workers_per_gather: "0",
  jit: "off",
  enable_sort: "off",
  enable_seqscan: "off",
  plan_cache_mode: "force_generic_plan",
  "pg_trgm.similarity_threshold": "0.15",
} as const;

/** Opens the pool; `url` leads to PostgreSQL itself, as a pooler's sessions are anybody's. */
export function openListPool(url: string, max = LIST_CONNECTIONS_MAX): Pool {
  return openPool(url, {
    applicationName: API_APPLICATION,
    max,
    readOnly: true,
    settings: SETTINGS,
  });
}
