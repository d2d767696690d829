/** Addresses and keys of triggers and channels, which nobody who reads the text may learn. */
import { isRecord } from "../../../yaml/values.ts";
import type { DocumentMap } from "../field_reader.ts";

const ADDRESS_KEY = /secret|ur[il]$|webhook|endpoint|address|token|key$|header|password|credential|auth/i;

/** The map without every key and every text that is, or may hold, an address or a secret; at any depth. */
export function withoutAddresses(map: DocumentMap): DocumentMap {
  const shown = Object.entries(map).filter(([key, value]) => !ADDRESS_KEY.test(key) && !isAddress(value));
  return Object.fromEntries(shown.map(([key, value]) => [key, clean(value)]));
}

function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isAddress(item)).map(clean);
  return isRecord(value) ? withoutAddresses(value) : value;
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && value.includes("://");
}
