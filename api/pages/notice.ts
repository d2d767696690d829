/**
 * Notices about the result of a form, on the page that follows the form. The page clears the notice's cookie, so a reload does
 * not repeat the notice. No link can make a page show a notice.
 */
import { readCookie, setCookie } from "../http/cookies.ts";
import { type Content, html } from "./html.ts";

const COOKIE = "ulr_notice";
/** The lifetime of the cookie: the maximum duration of a redirect. */
const MAX_AGE_SECONDS = 60;
/** The maximum number of listed lines. Further lines are only counted. */
const MAX_LINES = 5;

export interface Notice {
  /** The name of the result, such as `saved`, which selects one of the page's texts. */
  done: string;
  /** The document's lines on which aliases were replaced by their texts. */
  replacedAliases: readonly number[];
}

/** The warnings in an API response. */
export type Warnings = readonly { code: string; line?: number }[];

/** Returns the `Set-Cookie` header that passes a notice to a page. */
export function noticeCookie(location: string, done: string, warnings: Warnings): string {
  const lines = warnings.flatMap(({ code, line = 0 }) => (code === "ALIAS_REPLACED" ? [line] : []));
  const { pathname } = new URL(location, "http://localhost");
  const value = new URLSearchParams({ page: pathname, done, lines: lines.slice(0, 100).join(".") });
  return setCookie(COOKIE, value.toString(), { maxAgeSeconds: MAX_AGE_SECONDS });
}

export const CLEARED_NOTICE = setCookie(COOKIE, "", { maxAgeSeconds: 0 });

/** Reads the notice from the request's cookie; null without a notice for this page. */
export function readNotice(headers: Headers, pathname: string): Notice | null {
  const value = new URLSearchParams(readCookie(headers, COOKIE) ?? "");
  if (value.get("page") !== pathname) return null;
  const lines = (value.get("lines") ?? "").split(".").filter((line) => /^\d{1,7}$/.test(line));
  return { done: value.get("done") ?? "", replacedAliases: lines.map(Number) };
}

/** Renders the page's text for the notice, which screen readers announce; null for an unknown name. */
export function renderNotice(notice: Notice | null, texts: Readonly<Record<string, string>>): Content {
  if (notice === null || !Object.hasOwn(texts, notice.done)) return null;
  return html`<p class="notice" role="status" data-done="${notice.done}">${texts[notice.done]}${describeAliases(notice)}</p>`;
}

function describeAliases({ replacedAliases: lines }: Notice): Content {
  if (lines.length === 0) return null;
  const more = lines.length - MAX_LINES;
  if (lines.length === 1)
    return ` Also changed, on line ${lines[0]}: an alias is replaced by its text, because the value of its anchor has changed.`;
  const where = `${lines.slice(0, MAX_LINES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return ` Also changed, on lines ${where}: aliases are replaced by their texts, because the values of their anchors have changed.`;
}
