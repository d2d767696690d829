/** The cookie in which a browser keeps its session: the same token that others send as `Authorization: Bearer`. */
import type { Config } from "../shared/config.ts";

export const SESSION_COOKIE = "session";

type CookieConfig = Pick<Config, "publicUrl">;

const TOKEN = /^uls_[A-Za-z0-9_-]{32,128}$/;

/** What is in the cookies of that name: several where another program on the same host has one too. */
export interface SessionCookie {
  /** `null` when none of them can be ours. */
  token: string | null;
}

/** The request's cookie; `null` when there is none, or an empty one. */
export function readSessionCookie(headers: Headers): SessionCookie | null {
  const values = (headers.get("cookie") ?? "").split(";").flatMap((pair) => {
    const [name = "", value = ""] = pair.split("=", 2);
    return name.trim() === SESSION_COOKIE && value.trim() !== "" ? [value.trim()] : [];
  });
  return values.length === 0 ? null : { token: values.find((value) => TOKEN.test(value)) ?? null };
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
