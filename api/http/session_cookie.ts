/** The session cookie of browsers. Its value is the same token as in `Authorization: Bearer`. */
import type { Config } from "../../shared/process/config.ts";
import { readCookies, setCookie } from "./cookies.ts";

type CookieConfig = Pick<Config, "publicUrl">;

const TOKEN = /^uls_[A-Za-z0-9_-]{32,128}$/;

/**
 * Returns the cookie's name. Browsers accept a `__Host-` cookie only from this host over https (RFC 6265bis, 4.1.3.2). Without
 * the prefix, any host of the domain could set the cookie to a session of its choice.
 */
export function sessionCookieName({ publicUrl }: CookieConfig): "ulr_session" | "__Host-ulr_session" {
  return publicUrl.startsWith("https:") ? "__Host-ulr_session" : "ulr_session";
}

/**
 * Returns the tokens in the request's session cookies. There are several if someone has set a second cookie. A value in another
 * format belongs to another program and is ignored.
 */
export function readSessionTokens(headers: Headers, config: CookieConfig): readonly string[] {
  return readCookies(headers, sessionCookieName(config)).filter((value) => TOKEN.test(value));
}

/** Returns a `Set-Cookie` value for a new session. */
export function newSessionCookie(token: string, config: CookieConfig & { sessionTtlHours: number }): string {
  return sessionCookie(token, config.sessionTtlHours * 3600, config);
}

export function clearedSessionCookie(config: CookieConfig): string {
  return sessionCookie("", 0, config);
}

function sessionCookie(value: string, maxAgeSeconds: number, config: CookieConfig): string {
  return setCookie(sessionCookieName(config), value, { maxAgeSeconds, publicUrl: config.publicUrl });
}
