/** GET /models/held: lists the source's prices and documents that the catalog holds back. */
import { type Static, Type } from "@sinclair/typebox";
import { Count, data, Instant, listOf, Nullable, Text } from "../../shared/schemas.ts";
import { listRefusedDoubts, type RefusedDoubt } from "../../sql/models/catalog_syncs.ts";
import { type HeldPricesRow, listHeldPrices as listHeldRows } from "../../sql/models/held_prices.ts";
import { comparePrices } from "../../sql/models/model_price_changes.ts";
import { operation, reply } from "../http/operation.ts";
import { compareTexts } from "./catalog.ts";
import { CATALOG_READ } from "./schemas.ts";

const SEEN = {
  firstSeenAt: Instant(),
  lastSeenAt: Instant(),
  timesSeen: Type.Integer({ minimum: 1, description: "Syncs that found it" }),
  rejected: Type.Boolean({ description: "An operator said that it is wrong: it is not taken" }),
};

const HeldPrices = Type.Object(
  {
    provider: Text,
    modelId: Text,
    changes: listOf(
      Type.Object({
        field: Text,
        oldValue: Nullable(Type.Number(), { description: "The price that applies" }),
        newValue: Nullable(Type.Number(), { description: "The price of the source" }),
      }),
    ),
    ...SEEN,
  },
  {
    title: "HeldPrices",
    examples: [
      {
        provider: "openrouter",
        modelId: "deepseek/deepseek-chat",
        changes: [
          { field: "input", oldValue: 0.2002, newValue: 0 },
          { field: "output", oldValue: 0.8001, newValue: 0 },
        ],
        firstSeenAt: "2026-06-25T18:23:01.000Z",
        lastSeenAt: "2026-06-25T18:23:01.000Z",
        timesSeen: 1,
        rejected: false,
      },
    ],
  },
);
const HeldDocument = Type.Object({ reason: Text, ...SEEN }, { title: "HeldDocument" });

export const listHeldPrices = operation(
  {
    ...CATALOG_READ,
    id: "listHeldPrices",
    path: "/api/v1/models/held",
    summary: "List doubtful changes that wait",
    description:
      "Prices that change by more than five times, or to or from 0, wait until a sync at least an hour later finds them again, " +
      "or until an operator accepts them; the old prices apply meanwhile. `document` is set while the source's document as a " +
      "whole waits, because it would remove too many models or prices.",
    response: {
      200: data(
        {
          prices: listOf(HeldPrices),
          total: Count,
          document: Nullable(HeldDocument, { examples: [null] }),
        },
        "Everything that waits",
      ),
    },
  },
  async (_, { catalog }) => {
    const [held, doubts] = await catalog.read((sql) =>
      Promise.all([listHeldRows(sql), listRefusedDoubts(sql)]),
    );
    const prices = held.map(presentHeld);
    return reply(200, { data: { prices, total: prices.length, document: presentDocument(doubts) } });
  },
);

function presentHeld(row: HeldPricesRow): Static<typeof HeldPrices> {
  const { provider, modelId, firstSeenAt, lastSeenAt, timesSeen, rejectedAt } = row;
  const changes = comparePrices(row, row.currentPrices, row.prices).map(({ field, oldValue, newValue }) => ({
    field,
    oldValue,
    newValue,
  }));
  return { provider, modelId, changes, firstSeenAt, lastSeenAt, timesSeen, rejected: rejectedAt !== null };
}

/** Returns the source document that is held as a whole; null if none is held. One rejected doubt blocks the whole document. */
function presentDocument(doubts: readonly RefusedDoubt[]): Static<typeof HeldDocument> | null {
  const lastSeenAt = doubts
    .map((doubt) => doubt.lastSeenAt)
    .toSorted()
    .at(-1);
  const current = doubts.filter((doubt) => doubt.lastSeenAt === lastSeenAt);
  const [first] = current.toSorted((a, b) => compareTexts(a.firstSeenAt, b.firstSeenAt));
  if (!first) return null;
  return {
    reason: first.error,
    firstSeenAt: first.firstSeenAt,
    lastSeenAt: first.lastSeenAt,
    timesSeen: first.timesSeen,
    rejected: current.some(({ decision }) => decision === "rejected"),
  };
}
