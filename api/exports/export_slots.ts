/** How many exports, counts and downloads a process runs at once, and what share of them a user and an organization has. */

import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import { EXPORT_COUNTS_MAX } from "../../sql/connection/export_connections.ts";
import { type Claim, type Permit, Semaphore, type Shortage } from "../http/semaphore.ts";

const RETRY_SECONDS = 5;

export interface ExportSlots {
  /** Streams of datasets and bundles, each with a snapshot that is open for as long as its reader reads. */
  streams: Semaphore;
  /** Estimates, and what HEAD asks of a file: they count rows for some seconds at most, and hold nothing after that. */
  counts: Semaphore;
  /** Downloads of finished exports. */
  downloads: Semaphore;
}

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

/** What is running, in the words of a refusal. */
const SLOT_WORDS = {
  streams: { one: "export", many: "exports" },
  counts: { one: "estimate", many: "estimates" },
  downloads: { one: "download", many: "downloads" },
} as const;

/**
 * Takes a slot. Throws RATE_LIMITED when the user's or the organization's share is used up, SERVICE_UNAVAILABLE when
 * the whole process is full.
 */
export function takeExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): Permit {
  const result = slots[kind].take(claim);
  if (result.ok) return result.permit;
  throw slotError(slots, kind, result.shortage);
}

/** Throws what `takeExportSlot` would, and takes nothing: what HEAD says is what GET would say. */
export function requireExportSlot(slots: ExportSlots, kind: keyof ExportSlots, claim: Claim): void {
  const shortage = slots[kind].findShortage(claim);
  if (shortage !== null) throw slotError(slots, kind, shortage);
}

function slotError(slots: ExportSlots, kind: keyof ExportSlots, shortage: Shortage): ApiError {
  const { max, perHolder, perGroup } = slots[kind].limits;
  const { one, many } = SLOT_WORDS[kind];
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  switch (shortage) {
    case "holder":
      return new ApiError("RATE_LIMITED", {
        message: `Cannot start another ${one}: you are running ${perHolder}, the most a user may run at once. Wait until one ends or stop it, then retry.`,
        details: { share: "user", limit: perHolder },
        headers,
      });
    case "group":
      return new ApiError("RATE_LIMITED", {
        message: `Cannot start another ${one}: your organization is running ${perGroup}, the most it may run at once. Wait until one of its ${many} ends, then retry.`,
        details: { share: "organization", limit: perGroup },
        headers,
      });
    case "all":
      return new ApiError("SERVICE_UNAVAILABLE", {
        message: `Cannot start another ${one}: this server is running ${max}, the most it can. Retry in ${RETRY_SECONDS} seconds.`,
        headers,
      });
  }
}
