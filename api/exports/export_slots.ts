/** The slots of exports in one process: how many run at once, and the shares of users and organizations. */
import { RETRY_AFTER } from "../../shared/error_rows.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import { EXPORT_COUNTS_MAX } from "../../sql/connection/snapshot.ts";
import { type Claim, type Permit, Semaphore, type Shortage } from "../http/limits/semaphore.ts";

export interface ExportSlots {
  /** Streams of datasets and bundles; each holds a snapshot while its client reads. */
  streams: Semaphore;
  /** Estimates and HEAD requests: they count rows for a few seconds. */
  counts: Semaphore;
  /** Downloads of finished exports. */
  downloads: Semaphore;
}

/** Creates the slots. Each user and organization has a share of those of streams and downloads, and of half of the counts. */
export function createExportSlots(config: Config): ExportSlots {
  const limits = {
    max: config.exportStreamsMax,
    perHolder: config.exportStreamsPerUser,
    perGroup: config.exportStreamsPerOrg,
  };
  const half = Math.ceil(EXPORT_COUNTS_MAX / 2);
  return {
    streams: new Semaphore(limits),
    counts: new Semaphore({ max: EXPORT_COUNTS_MAX, perHolder: half, perGroup: half }),
    downloads: new Semaphore(limits),
  };
}

/** Nouns for error messages. */
const SLOT_WORDS = {
  streams: { one: "export", many: "exports" },
  counts: { one: "estimate", many: "estimates" },
  downloads: { one: "download", many: "downloads" },
} as const;

/**
 * Takes a slot. Throws RATE_LIMITED if the share of the user or organization is used up, SERVICE_UNAVAILABLE if all
 * slots of the process are.
 */
export function takeExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): Permit {
  const result = slots[kind].take(claim);
  if (result.ok) return result.permit;
  throw slotError(slots, kind, result.shortage);
}

/** Throws what `takeExportSlot` would, without taking a slot, so that HEAD responds like GET. */
export function requireExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): void {
  const shortage = slots[kind].findShortage(claim);
  if (shortage !== null) throw slotError(slots, kind, shortage);
}

function slotError(slots: ExportSlots, kind: keyof ExportSlots, shortage: Shortage): ApiError {
  const { max, perHolder, perGroup } = slots[kind].limits;
  const { one, many } = SLOT_WORDS[kind];
  const retryAfter = RETRY_AFTER.stream;
  switch (shortage) {
    case "holder":
      return new ApiError("RATE_LIMITED", {
        message: TEXTS.RATE_LIMITED.exportsOfUser({ one, limit: perHolder }),
        details: { share: "user", limit: perHolder },
        retryAfter,
      });
    case "group":
      return new ApiError("RATE_LIMITED", {
        message: TEXTS.RATE_LIMITED.exportsOfOrg({ one, many, limit: perGroup }),
        details: { share: "organization", limit: perGroup },
        retryAfter,
      });
    case "all":
      return new ApiError("SERVICE_UNAVAILABLE", {
        message: TEXTS.SERVICE_UNAVAILABLE.exports({ one, limit: max, seconds: retryAfter }),
        retryAfter,
      });
  }
}
