/** Instants as the API spells them, where PostgreSQL itself writes the text. */

/** ISO 8601 in UTC with exactly three digits; the session's time zone is UTC. */
export function isoText(expression: string): string {
  return `to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
