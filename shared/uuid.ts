/** Validates UUIDs. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A placeholder for a required id, such as the owner of a project in an organization without members. */
export const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** Returns true for a UUID of any version, in upper or lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
