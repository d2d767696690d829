/** The id of a request, in the log and in `X-Request-Id`: that of the client, or our own. */

/** Ids of clients that are kept. Others are replaced. */
export const ACCEPTED_REQUEST_ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** Returns the incoming `X-Request-Id` if it may be kept, else our own id. */
export function requestIdOf(headers: Headers, ownRequestId: string): string {
  const given = headers.get("x-request-id");
  return given !== null && ACCEPTED_REQUEST_ID.test(given) ? given : ownRequestId;
}
