/** Numbers and flags in words, as people read them. */
import { given, type Inline, md } from "./inline.ts";

const UNITS = [
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
  { ms: 1000, name: "second" },
] as const;

/** `300000` → `5 minutes`; never rounded. */
export function duration(ms: number): Inline {
  const unit = UNITS.find((candidate) => ms >= candidate.ms && ms % candidate.ms === 0);
  return (unit ? plural(ms / unit.ms, unit.name) : `${ms} ms`) as Inline;
}

/** `1 time`, `2 times`. */
export function plural(count: number, noun: string): Inline {
  return `${count} ${noun}${count === 1 ? "" : "s"}` as Inline;
}

/** How often to try again; null for no retries. Then `readDelay` is not called, so that the delay stays among the leftovers. */
export function retries(times: number | null, readDelay: () => number | null): Inline | null {
  if (times === null || times <= 0) return null;
  const again = md`If it fails, try ${plural(times, "more time")} at most`;
  const delayMs = readDelay();
  return delayMs === null ? again : md`${again}, ${duration(delayMs)} apart`;
}

/** Words for a span of scores, both ends included. */
export function scoreRange(min: number | null, max: number | null): Inline | null {
  if (min !== null && max !== null) return min === max ? md`${min}` : md`${min}–${max}`;
  if (min !== null) return md`${min} and above`;
  return max === null ? null : md`${max} and below`;
}

export function requiredOrOptional(isRequired: boolean | null): Inline | null {
  return given(isRequired, (is) => (is ? md`required` : md`optional`));
}

/** `yes`, `no`, `null` when the author did not say. */
export function yesNo(flag: boolean | null): Inline | null {
  return given(flag, (isYes) => (isYes ? md`yes` : md`no`));
}
