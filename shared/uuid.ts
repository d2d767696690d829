/** The textual form of an id. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for a UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
