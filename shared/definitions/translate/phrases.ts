/** Numbers and flags in words, as people read them. */
import { type Inline, md } from "./inline.ts";

const UNITS = [
  { ms: 3_600_000, name: "hour" },
  { ms: 60_000, name: "minute" },
  { ms: 1000, name: "second" },
] as const;

/** `300000` → `5 minutes`; never rounded. */
export function duration(ms: number | null): Inline | null {
  if (ms === null) return null;
  const unit = UNITS.find((candidate) => ms >= candidate.ms && ms % candidate.ms === 0);
  return unit ? plural(ms / unit.ms, unit.name) : md`${ms} ms`;
}

/** `1 time`, `2 times`. */
export function plural(count: number | null, noun: string): Inline | null {
  if (count === null) return null;
  return `${count} ${noun}${count === 1 ? "" : "s"}` as Inline;
}

/** How often to try again; null for no retries. Then `readDelay` is not called, so that the delay stays among the leftovers. */
export function retries(times: number | null, readDelay: () => number | null): Inline | null {
  if (times === null || times <= 0) return null;
  const again = md`If it fails, try ${plural(times, "more time")} at most`;
  return md`${again}, ${duration(readDelay())} apart` ?? again;
}

/** Words for a span of scores, both ends included. */
export function scoreRange(min: number | null, max: number | null): Inline | null {
  if (min === max) return md`${min}`;
  return md`${min}–${max}` ?? md`${min} and above` ?? md`${max} and below`;
}

export function requiredOrOptional(isRequired: boolean | null): Inline | null {
  if (isRequired === null) return null;
  return isRequired ? md`required` : md`optional`;
}

/** `yes`, `no`, `null` when the author did not say. */
export function yesNo(flag: boolean | null): Inline | null {
  if (flag === null) return null;
  return flag ? md`yes` : md`no`;
}
