/** The cookie in which a browser keeps its session: the same token that others send as `Authorization: Bearer`. */
import type { Config } from "../shared/config.ts";

export const SESSION_COOKIE = "session";

type CookieConfig = Pick<Config, "publicUrl">;

/** Whatever else a cookie of that name holds is another program's: on one host, ports share their cookies. */
const TOKEN = /^uls_[A-Za-z0-9_-]{32,128}$/;

/** The token in the request's cookie; `null` when there is none of ours. */
export function readSessionCookie(headers: Headers): string | null {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const [name = "", value = ""] = pair.split("=", 2);
    const token = value.trim();
    if (name.trim() === SESSION_COOKIE && TOKEN.test(token)) return token;
  }
  return null;
}

/** `Set-Cookie` for a session that has begun: out of reach of scripts and, in all but links, of other sites. */
export function newSessionCookie(token: string, config: CookieConfig & { sessionTtlHours: number }): string {
  return setCookie(token, config.sessionTtlHours * 3600, config);
}

/** `Set-Cookie` for a session that has ended. */
export function clearedSessionCookie(config: CookieConfig): string {
  return setCookie("", 0, config);
}

function setCookie(value: string, maxAgeSeconds: number, { publicUrl }: CookieConfig): string {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; HttpOnly; SameSite=Lax; Path=/; Max-Age=${maxAgeSeconds}${secure}`;
}
