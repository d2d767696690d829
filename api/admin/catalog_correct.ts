/** `catalog correct`: corrects a price of the past. */
import { parseInstant } from "../../shared/instant.ts";
import { PRICE_FIELDS } from "../../shared/vocabulary.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import {
  findCorrectionLimits,
  insertPriceCorrection,
  type PriceCorrection,
} from "../../sql/models/model_price_corrections.ts";
import type { ModelKey } from "../../sql/models/models.ts";
import { MODEL_FLAG, parseModel } from "./catalog.ts";
import { AdminError, defineCommand, UsageError } from "./command/command.ts";

const MAX_REASON_LENGTH = 2000;
/** As in catalogs. */
const MAX_USD_PER_MTOK = 1e9;
const KIND = new RegExp(`^(?:tiers\\.[1-9]\\d{0,8}\\.)?(?:${PRICE_FIELDS.join("|")})$`);

export const correctPriceCommand = defineCommand({
  name: "catalog correct",
  about:
    "Corrects a price of the past. Recorded prices stay; `asOf` returns the corrected one, with an earlier `knownAt` the recorded one.",
  flags: {
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
  },
  async run({ sql }, flags) {
    const key = parseModel(flags.model);
    const wanted = readFlags(flags);
    return sql.begin(async (tx) => {
      const limits = await findCorrectionLimits(tx, key, { field: wanted.field, from: wanted.validFrom });
      if (!limits) throw new AdminError(`Model "${flags.model}" not found`, "NOT_FOUND");
      const { now, knownSince, nextChange } = limits;
      const validTo = wanted.validTo ?? nextChange ?? now;
      const problem = findProblem({ ...wanted, validTo }, { now, knownSince });
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
});

interface CorrectFlags {
  kind: string;
  price: string;
  from: string;
  to: string | undefined;
  reason: string;
}

function readFlags({ kind, price, from, to, reason }: CorrectFlags) {
  if (!KIND.test(kind)) {
    throw new UsageError(
      `--kind must be one of ${PRICE_FIELDS.join(", ")}, or of a tier, such as tiers.200000.input`,
    );
  }
  if (reason.trim() === "" || reason.length > MAX_REASON_LENGTH) {
    throw new UsageError(`--reason must have 1 to ${MAX_REASON_LENGTH} characters`);
  }
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
  { now, knownSince }: { now: string; knownSince: string },
): string | null {
  if (validFrom < knownSince) {
    return `--from is before ${knownSince}, since when prices of the model are known`;
  }
  if (validTo > now) return `--to must not be in the future; it is ${now}`;
  return validFrom < validTo ? null : `--from must be before ${validTo}`;
}

function describe(key: ModelKey, { field, value, validFrom, validTo }: PriceCorrection): string {
  const price = value === null ? "is unknown" : `was $${value} per million tokens`;
  return `Corrected: ${field} of ${key.provider}/${key.modelId} ${price} from ${validFrom} to ${validTo}. Later prices stay as they are.`;
}
