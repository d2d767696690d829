/** Parses instants from clients, such as `as_of`. */

const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)$/;

/**
 * Parses an ISO 8601 instant with an offset, and truncates it to milliseconds: `2026-11-20T10:00:00.000Z`. Returns null if it
 * is invalid. A space counts as `+`, because query strings decode `+` to a space.
 */
export function parseInstant(value: string): string | null {
  const match = ISO_8601.exec(value.replace(/ (\d{2}:?\d{0,2})$/, "+$1"));
  if (!match) return null;
  const [, day = "", minutes = "", seconds = "00", fraction = "", , sign, hours = "0", rest = "0"] = match;
  const local = `${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const instant = new Date(local);
  // Date changes February 31 to a day in March. An instant that is changed does not exist.
  if (Number.isNaN(instant.getTime()) || instant.toISOString() !== local) return null;
  const [offsetHours, offsetMinutes] = [Number(hours), Number(rest)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (sign === "-" ? -1 : 1);
  const utc = new Date(instant.getTime() - offsetMs);
  const year = utc.getUTCFullYear();
  // PostgreSQL has no year 0.
  return year >= 1 && year <= 9999 ? utc.toISOString() : null;
}

/** Returns `instant` plus `milliseconds`. */
export function addMilliseconds(instant: string, milliseconds: number): string {
  return new Date(Date.parse(instant) + milliseconds).toISOString();
}
