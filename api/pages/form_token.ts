/** The token in every form of a session, so that other sites cannot send forms of ours. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../../shared/process/config.ts";
import { readSessionTokens } from "../http/session_cookie.ts";

/**
 * Derives the token in every form of a session; null without one. A form that another site sends, or that another session was
 * given, has none or a wrong one.
 */
export function formTokenOf(headers: Headers, config: Pick<Config, "publicUrl">): string | null {
  const [token] = readSessionTokens(headers, config);
  return token === undefined ? null : createHmac("sha256", token).update("form token").digest("base64url");
}

/** Throws FORBIDDEN_ORIGIN unless the form has the session's token. */
export function requireFormToken(form: URLSearchParams, expected: string): void {
  const given = Buffer.from(form.get("form_token") ?? "");
  const wanted = Buffer.from(expected);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new ApiError("FORBIDDEN_ORIGIN", {
    message: TEXTS.FORBIDDEN_ORIGIN.form,
  });
}
