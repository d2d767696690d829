/** Commands for the model catalog: accept or reject doubtful changes, and correct past prices. */
import { parseInstant } from "../../shared/instant.ts";
import { modelName, parseModelName } from "../../shared/models/model_name.ts";
import { MAX_USD_PER_MTOK } from "../../shared/models/prices.ts";
import { PRICE_FIELDS } from "../../shared/vocabulary.ts";
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
import { comparePrices } from "../../sql/models/model_price_changes.ts";
import {
  type CorrectionLimits,
  findCorrectionLimits,
  insertPriceCorrection,
  type PriceCorrection,
} from "../../sql/models/model_price_corrections.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import {
  AdminError,
  type CommandContext,
  type CommandResult,
  checkFlags,
  defineCommand,
  type FlagValues,
  reasonProblem,
  UsageError,
} from "./command/command.ts";
import { table } from "./command/format_output.ts";

const MODEL_FLAG = { placeholder: "PROVIDER/ID", about: "the model" } as const;

const DECISION_FLAGS = {
  all: { about: "everything that waits or was rejected, a document as a whole too" },
  document: { about: "only the document that waits as a whole, no doubtful prices" },
  model: MODEL_FLAG,
} as const;

const CORRECT_FLAGS = {
  model: { ...MODEL_FLAG, required: true },
  kind: {
    placeholder: "KIND",
    required: true,
    about: `the price: ${PRICE_FIELDS.join(", ")}, or of a tier, such as tiers.200000.input`,
  },
  price: { placeholder: "USD", required: true, about: "US dollars per million tokens, or unknown" },
  from: { placeholder: "ISO", required: true, about: "the first instant of the corrected price" },
  to: {
    placeholder: "ISO",
    about: "the instant when the recorded price counts again; by default its next change, or now",
  },
  reason: { placeholder: "TEXT", required: true, about: "reason, for the audit log and for readers" },
} as const;

const KIND = new RegExp(`^(?:tiers\\.[1-9]\\d{0,8}\\.)?(?:${PRICE_FIELDS.join("|")})$`);

export const CATALOG_COMMANDS = [
  defineCommand({
    name: "catalog held",
    about:
      "Lists doubtful price changes, and documents that would remove too much, which wait for a second sync.",
    flags: {},
    async run({ sql }) {
      const held = await listHeldPrices(sql);
      const doubts = await listRefusedDoubts(sql);
      const rows = held.flatMap((row) =>
        comparePrices(row, row.currentPrices, row.prices).map(({ field, oldValue, newValue }) => [
          ...[modelName(row), field, String(oldValue ?? "none"), String(newValue ?? "none")],
          ...[row.firstSeenAt, String(row.timesSeen), row.rejectedAt === null ? "waits" : "rejected"],
        ]),
      );
      const headings = ["MODEL", "PRICE", "APPLIES", "SOURCE SAYS", "SINCE", "SEEN", "STATE"];
      return {
        json: { prices: held.map(({ isDue: _, ...row }) => row), doubts },
        text: [table(headings, rows, "No price waits."), ...doubts.map(describeDoubt)].join("\n"),
      };
    },
  }),
  defineCommand({
    name: "catalog accept",
    about:
      "Takes doubtful price changes at once, or lets the next sync take a document that removes too much.",
    flags: DECISION_FLAGS,
    run: (context, values) =>
      decide(context, values, "accepted", async (tx, held) => {
        const priceChanges = await takeHeldPrices(tx, held);
        await insertModelEvents(tx, { added: [], gone: [], priceChanges });
      }),
  }),
  defineCommand({
    name: "catalog reject",
    about: "Says that doubtful changes are wrong: they are not taken for as long as the source repeats them.",
    flags: DECISION_FLAGS,
    run: (context, values) => decide(context, values, "rejected", rejectHeldPrices),
  }),
  defineCommand({
    name: "catalog correct",
    about:
      "Corrects a price of the past. Recorded prices stay; `asOf` returns the corrected one, with an earlier `knownAt` the recorded one.",
    flags: CORRECT_FLAGS,
    async run({ sql }, flags) {
      const key = parseModel(flags.model);
      const wanted = readFlags(flags);
      return sql.begin(async (tx) => {
        // Without this lock, the insert could read the clock for `known_from` and then wait for a running sync.
        await lockTransaction(tx, "catalogSync");
        const limits = await findCorrectionLimits(tx, key, { field: wanted.field, from: wanted.validFrom });
        if (!limits) throw new AdminError(`Model "${flags.model}" not found`, "NOT_FOUND");
        const validTo = wanted.validTo ?? limits.nextChange ?? limits.now;
        const problem = findProblem({ ...wanted, validTo }, limits);
        if (problem) throw new UsageError(problem);
        const row = await insertPriceCorrection(tx, { ...key, ...wanted, validTo });
        await insertAuditEntry(tx, {
          actorType: "operator",
          action: "catalog.correct",
          subject: { type: "model", id: flags.model },
          details: { ...row },
        });
        return { json: { correction: { ...key, ...row } }, text: describe(key, row) };
      });
    },
  }),
];

function parseModel(text: string): ModelKey {
  const key = parseModelName(text);
  if (key.provider && key.modelId) return key;
  throw new UsageError("--model must be PROVIDER/ID, such as openai/gpt-5");
}

function describeDoubt({ doubt, extent, source, firstSeenAt, timesSeen, decision }: RefusedDoubt): string {
  const [code, provider] = doubt.split(/ (.*)/s);
  const action = code === "gone" ? "removes" : "takes the price from";
  const whose = provider ? ` of ${provider}` : "";
  return `The document from ${source} ${action} ${extent ?? "too many"} models${whose}: since ${firstSeenAt}, seen ${timesSeen} times, ${decision ?? "waits"}`;
}

type DecisionFlags = FlagValues<typeof DECISION_FLAGS>;

/** Each decision's action in the audit log and texts in the command's output. */
const DECISIONS = {
  accepted: {
    action: "catalog.accept",
    verb: "Accepted",
    next: "The next sync takes it if it finds the same numbers; `bun run catalog-sync --once` syncs now.",
  },
  rejected: {
    action: "catalog.reject",
    verb: "Rejected",
    next: "It is not taken while its source repeats it.",
  },
} as const;

async function decide(
  { sql }: CommandContext,
  flags: DecisionFlags,
  decision: keyof typeof DECISIONS,
  apply: (tx: Sql, held: readonly HeldPricesRow[]) => Promise<void>,
): Promise<CommandResult> {
  const { action, verb, next } = DECISIONS[decision];
  const subject = readSubject(flags);
  const isModel = flags.model !== undefined;
  return sql.begin(async (tx) => {
    // Wait for a running sync, because the decision changes the state that the sync compares with.
    await lockTransaction(tx, "catalogSync");
    const waiting = flags.document ? [] : await listHeldPrices(tx);
    const held = waiting.filter((row) => !isModel || modelName(row) === subject);
    await apply(tx, held);
    const documents = isModel ? 0 : await decideRefusedSyncs(tx, decision);
    const models = held.map(modelName);
    if (models.length > 0 || documents > 0) {
      await insertAuditEntry(tx, {
        actorType: "operator",
        action,
        subject: { type: "catalog", id: subject },
        details: { models: models.length, documents },
      });
    } else if (!flags.all) {
      const what = isModel ? `No price of "${subject}"` : "No document";
      throw new AdminError(`${what} waits. \`bun run admin catalog held\` lists what does.`, "NOT_FOUND");
    }
    const lines = models.map((name) => `${verb} the prices of ${name}.`);
    if (documents > 0) {
      const doubts = await listRefusedDoubts(tx);
      lines.push(`${verb} the document that waits. ${next}`, ...doubts.map(describeDoubt));
    }
    return { json: { decision, models, documents }, text: lines.join("\n") || "Nothing waits." };
  });
}

/** Returns the subject of a decision: a model's name, `document` or `all`. */
function readSubject({ all, document, model }: DecisionFlags): string {
  if ([all, document, model !== undefined].filter(Boolean).length !== 1) {
    throw new UsageError("Pass either --all, --document or --model");
  }
  if (model !== undefined) return modelName(parseModel(model));
  return document ? "document" : "all";
}

function readFlags({ kind, price, from, to, reason }: FlagValues<typeof CORRECT_FLAGS>) {
  if (!KIND.test(kind)) {
    throw new UsageError(
      `--kind must be one of ${PRICE_FIELDS.join(", ")}, or of a tier, such as tiers.200000.input`,
    );
  }
  checkFlags({ reason: reasonProblem(reason) });
  return {
    field: kind,
    value: readPrice(price),
    validFrom: readInstant("from", from),
    validTo: to === undefined ? null : readInstant("to", to),
    reason: reason.trim(),
  };
}

function readPrice(text: string): number | null {
  if (text === "unknown") return null;
  const price = /^\d{1,10}(?:\.\d{1,18})?(?:e-\d{1,2})?$/i.test(text) ? Number(text) : Number.NaN;
  if (price >= 0 && price <= MAX_USD_PER_MTOK) return price;
  throw new UsageError(
    `--price must be a number of US dollars per million tokens, such as 0.25, or unknown; it is "${text}"`,
  );
}

function readInstant(flag: string, text: string): string {
  const instant = parseInstant(text);
  if (instant) return instant;
  throw new UsageError(`--${flag} must be ISO 8601 with an offset, such as 2026-11-20T10:00:00Z`);
}

function findProblem(
  { validFrom, validTo }: Pick<PriceCorrection, "validFrom" | "validTo">,
  { now, knownSince }: CorrectionLimits,
): string | null {
  if (validFrom < knownSince) {
    return `--from is before ${knownSince}, since when prices of the model are known`;
  }
  if (validTo > now) return `--to must not be in the future; it is ${now}`;
  return validFrom < validTo ? null : `--from must be before ${validTo}`;
}

function describe(key: ModelKey, { field, value, validFrom, validTo }: PriceCorrection): string {
  const price = value === null ? "is unknown" : `was $${value} per million tokens`;
  return `Corrected: ${field} of ${modelName(key)} ${price} from ${validFrom} to ${validTo}. Later prices stay as they are.`;
}
