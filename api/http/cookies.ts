/** Formats `Set-Cookie` headers and parses `Cookie` headers. */

/**
 * Returns a `Set-Cookie` value. Scripts cannot read the cookie, and other sites can make browsers send it only by links. The
 * cookie is `Secure` if `publicUrl` is https.
 */
export function setCookie(
  name: string,
  value: string,
  options: { maxAgeSeconds: number; path?: string; publicUrl?: string },
): string {
  const { maxAgeSeconds, path = "/", publicUrl } = options;
  const secure = publicUrl?.startsWith("https:") ? "; Secure" : "";
  return `${name}=${value}; HttpOnly; SameSite=Lax; Path=${path}; Max-Age=${maxAgeSeconds}${secure}`;
}

/** Returns the values of all cookies with a name. There are several if they were set for different paths or domains. */
export function readCookies(headers: Headers, name: string): string[] {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.split("="));
  return pairs.flatMap(([given = "", ...value]) =>
    given.trim() === name && value.length > 0 ? [value.join("=").trim()] : [],
  );
}

/** Returns the first value of a cookie; null if it is missing. */
export function readCookie(headers: Headers, name: string): string | null {
  return readCookies(headers, name)[0] ?? null;
}
