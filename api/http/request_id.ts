/** The request id, for clients and the log. */

const ACCEPTED = /^[A-Za-z0-9_.-]{1,128}$/;

/** Returns the incoming `X-Request-Id` if it is 1 to 128 characters of `A-Z a-z 0-9 _ . -`, else our own id. */
export function requestIdOf(headers: Headers, ownRequestId: string): string {
  const given = headers.get("x-request-id");
  return given !== null && ACCEPTED.test(given) ? given : ownRequestId;
}
