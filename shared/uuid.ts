/** The textual form of an id. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Placeholder for a required id: the project's owner in an organization without members. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** True for a UUID of any version, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
