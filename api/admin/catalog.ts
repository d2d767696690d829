/** `catalog held`, `catalog accept` and `catalog reject`: doubtful changes of the model catalog that wait. */
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { insertModelEvents } from "../../sql/events/events.ts";
import { lockTransaction } from "../../sql/locks.ts";
import { decideRefusedSyncs, listRefusedDoubts, type RefusedDoubt } from "../../sql/models/catalog_syncs.ts";
import {
  type HeldPricesRow,
  listHeldPrices,
  rejectHeldPrices,
  takeHeldPrices,
} from "../../sql/models/held_prices.ts";
import { comparePrices } from "../../sql/models/model_prices.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import {
  AdminError,
  type CommandContext,
  type CommandResult,
  defineCommand,
  type Flag,
  UsageError,
} from "./command/command.ts";
import { table } from "./command/present.ts";

export const MODEL_FLAG = { placeholder: "PROVIDER/ID", about: "the model" } as const satisfies Flag;

/** Splits at the first slash: provider ids have none. */
export function parseModel(text: string): ModelKey {
  const [, provider, modelId] = /^([^/]+)\/(.+)$/s.exec(text) ?? [];
  if (!provider || !modelId) throw new UsageError("--model must be PROVIDER/ID, such as openai/gpt-5");
  return { provider, modelId };
}

function nameOf({ provider, modelId }: ModelKey): string {
  return `${provider}/${modelId}`;
}

export const listHeldCommand = defineCommand({
  name: "catalog held",
  about:
    "Lists doubtful price changes, and documents that would remove too much, which wait for a second sync.",
  flags: {},
  async run({ sql }) {
    const held = await listHeldPrices(sql);
    const doubts = await listRefusedDoubts(sql);
    const rows = held.flatMap((row) =>
      comparePrices(row, row.currentPrices, row.prices).map(({ field, oldValue, newValue }) => [
        ...[nameOf(row), field, String(oldValue ?? "none"), String(newValue ?? "none")],
        ...[row.firstSeenAt, String(row.timesSeen), row.rejectedAt === null ? "waits" : "rejected"],
      ]),
    );
    const headings = ["MODEL", "PRICE", "APPLIES", "SOURCE SAYS", "SINCE", "SEEN", "STATE"];
    return {
      json: { prices: held.map(({ isDue: _, ...row }) => row), doubts: [...doubts] },
      text: [table(headings, rows), ...doubts.map(describeDoubt)].join("\n"),
    };
  },
});

function describeDoubt({ doubt, source, firstSeenAt, timesSeen, decision }: RefusedDoubt): string {
  const [code, provider] = doubt.split(/ (.*)/s);
  const what = code === "gone" ? "removes too many models" : "takes the price from too many models";
  const whose = provider ? ` of ${provider}` : "";
  return `The document from ${source} ${what}${whose}: since ${firstSeenAt}, seen ${timesSeen} times, ${decision ?? "waits"}`;
}

const DECISION_FLAGS = {
  all: { about: "everything that waits, a document as a whole too" },
  model: MODEL_FLAG,
} as const;

export const acceptHeldCommand = defineCommand({
  name: "catalog accept",
  about: "Takes doubtful price changes at once, or lets the next sync take a document that removes too much.",
  flags: DECISION_FLAGS,
  run: (context, values) =>
    decide(context, values, "accepted", async (tx, held) => {
      const priceChanges = await takeHeldPrices(tx, held);
      await insertModelEvents(tx, { added: [], gone: [], priceChanges });
    }),
});

export const rejectHeldCommand = defineCommand({
  name: "catalog reject",
  about: "Says that doubtful changes are wrong: they are not taken for as long as the source repeats them.",
  flags: DECISION_FLAGS,
  run: (context, values) => decide(context, values, "rejected", rejectHeldPrices),
});

async function decide(
  { sql }: CommandContext,
  { all, model }: { all: boolean; model: string | undefined },
  decision: "accepted" | "rejected",
  apply: (tx: Sql, held: readonly HeldPricesRow[]) => Promise<void>,
): Promise<CommandResult> {
  if (all === (model !== undefined)) throw new UsageError("Pass either --all or --model");
  const wanted = model === undefined ? null : nameOf(parseModel(model));
  return sql.begin(async (tx) => {
    // A running sync compares with what is stored.
    await lockTransaction(tx, "catalogSync");
    const held = (await listHeldPrices(tx)).filter((row) => wanted === null || nameOf(row) === wanted);
    if (wanted !== null && held.length === 0) {
      throw new AdminError(
        `No price of "${wanted}" waits. \`bun run admin catalog held\` lists what does.`,
        "NOT_FOUND",
      );
    }
    await apply(tx, held);
    const documents = wanted === null ? await decideRefusedSyncs(tx, decision) : 0;
    if (held.length > 0 || documents > 0) {
      await insertAuditEntry(tx, {
        actorType: "operator",
        action: decision === "accepted" ? "catalog.accept" : "catalog.reject",
        subject: { type: "catalog", id: wanted ?? "all" },
        details: { models: held.length, documents },
      });
    }
    return describeDecision(decision, held.map(nameOf), documents);
  });
}

function describeDecision(
  decision: "accepted" | "rejected",
  models: readonly string[],
  documents: number,
): CommandResult {
  const verb = decision === "accepted" ? "Accepted" : "Rejected";
  const next =
    decision === "accepted"
      ? "The next sync takes it; `bun run catalog-sync --once` syncs now."
      : "It is not taken while its source repeats it.";
  const lines = [
    ...models.map((name) => `${verb} the prices of ${name}.`),
    ...(documents > 0 ? [`${verb} the document that waits. ${next}`] : []),
  ];
  return {
    json: { decision, models, documents },
    text: lines.length === 0 ? "Nothing waits." : lines.join("\n"),
  };
}
