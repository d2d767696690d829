/** Cookies of pages. They hold no credential, and what they say is not trusted. */

/** Returns `Set-Cookie`. Scripts cannot read it, and other sites can send it by links only. */
export function pageCookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; HttpOnly; SameSite=Lax; Path=/; Max-Age=${maxAgeSeconds}`;
}

/** Returns the value of a cookie; null without one. */
export function readCookie(headers: Headers, name: string): string | null {
  const cookies = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  return cookies.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}
