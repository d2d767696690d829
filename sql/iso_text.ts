/** Formats timestamps in PostgreSQL as the API does. */

/** Returns an SQL expression for a timestamp in ISO 8601 with milliseconds. The session's time zone must be UTC. */
export function isoText(expression: string): string {
  return `to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
