/** GET /models/held: what the source says and the catalog does not take yet. */
import { Elysia } from "elysia";
import type { Pool } from "../../sql/connection/pool.ts";
import { listRefusedDoubts, type RefusedDoubt } from "../../sql/models/catalog_syncs.ts";
import { type HeldPricesRow, listHeldPrices } from "../../sql/models/held_prices.ts";
import { comparePrices } from "../../sql/models/model_prices.ts";
import { access } from "../http/access.ts";
import type { CatalogCache } from "./catalog_cache.ts";
import { respondText } from "./conditional_response.ts";
import { HELD_DETAIL } from "./openapi.ts";

export function heldRoutes({ catalog: cache }: { catalog: CatalogCache }) {
  return new Elysia({ prefix: "/models" }).use(access).get(
    "/held",
    async ({ request }) => {
      const [held, doubts] = await cache.read((sql: Pool) =>
        Promise.all([listHeldPrices(sql), listRefusedDoubts(sql)]),
      );
      const prices = held.map(presentHeld);
      return respondText(
        request,
        JSON.stringify({ data: { prices, total: prices.length, document: presentDocument(doubts) } }),
      );
    },
    { publicAccess: true, detail: HELD_DETAIL },
  );
}

function presentHeld(row: HeldPricesRow) {
  const { provider, modelId, firstSeenAt, lastSeenAt, timesSeen, rejectedAt } = row;
  const changes = comparePrices(row, row.currentPrices, row.prices).map(({ field, oldValue, newValue }) => ({
    field,
    oldValue,
    newValue,
  }));
  return { provider, modelId, changes, firstSeenAt, lastSeenAt, timesSeen, rejected: rejectedAt !== null };
}

/** The document that waits as a whole; `null` if there is none. */
function presentDocument(doubts: readonly RefusedDoubt[]) {
  const last = doubts.toSorted((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1))[0];
  if (!last) return null;
  const { error, firstSeenAt, lastSeenAt, timesSeen, decision } = last;
  return { reason: error, firstSeenAt, lastSeenAt, timesSeen, rejected: decision === "rejected" };
}
