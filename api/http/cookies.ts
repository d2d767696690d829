/** Cookies of browsers: the form of those that the service sets, and the search for those that it gets. */

/**
 * Returns `Set-Cookie`. Scripts cannot read the cookie, and other sites can send it by links only. A cookie that is given
 * the service's address is secure if that is https.
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

/** Returns the values of the cookies of a name: more than one if they were set for several paths or domains. */
export function readCookies(headers: Headers, name: string): string[] {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.split("="));
  return pairs.flatMap(([given = "", ...value]) =>
    given.trim() === name && value.length > 0 ? [value.join("=").trim()] : [],
  );
}

/** Returns the value of a cookie; null without one. */
export function readCookie(headers: Headers, name: string): string | null {
  return readCookies(headers, name)[0] ?? null;
}
