/** Formats numbers and flags as words. */
import { type Inline, md } from "./inline.ts";

const UNITS = [
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
  { ms: 1000, name: "second" },
] as const;

/** Formats a duration without rounding: `300000` becomes `5 minutes`. */
export function duration(ms: number | null): Inline | null {
  if (ms === null) return null;
  const unit = UNITS.find((candidate) => ms >= candidate.ms && ms % candidate.ms === 0);
  return unit ? plural(ms / unit.ms, unit.name) : md`${ms} ms`;
}

/** Formats a count and a noun: `1 time`, `2 times`. */
export function plural(count: number | null, noun: string): Inline | null {
  if (count === null) return null;
  return `${count} ${noun}${count === 1 ? "" : "s"}` as Inline;
}

/**
 * Formats the number of retries; null for no retries. Without retries, `readDelay` is not called, so that the delay stays
 * among the leftovers.
 */
export function retries(times: number | null, readDelay: () => number | null): Inline | null {
  if (times === null || times <= 0) return null;
  const again = md`If it fails, try ${plural(times, "more time")} at most`;
  return md`${again}, ${duration(readDelay())} apart` ?? again;
}

/** Formats a range of scores, including both ends. */
export function scoreRange(min: number | null, max: number | null): Inline | null {
  if (min === max) return md`${min}`;
  return md`${min}–${max}` ?? md`${min} and above` ?? md`${max} and below`;
}

export function requiredOrOptional(isRequired: boolean | null): Inline | null {
  if (isRequired === null) return null;
  return isRequired ? md`required` : md`optional`;
}

/** Returns `yes` or `no`, or null if the author did not specify the flag. */
export function yesNo(flag: boolean | null): Inline | null {
  if (flag === null) return null;
  return flag ? md`yes` : md`no`;
}
