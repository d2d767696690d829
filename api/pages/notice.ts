/**
 * Notices of what a form has done, on the page that follows it. They travel in a cookie that the page clears: a
 * reload does not repeat them, and no address can make a page claim something.
 */
import { readCookie, setCookie } from "../http/cookies.ts";
import { type Content, html } from "./html.ts";

const COOKIE = "ulr_notice";
/** The longest time that a redirect may take. */
const MAX_AGE_SECONDS = 60;
/** More lines are counted. */
const MAX_LINES = 5;

export interface Notice {
  /** What was done, such as `saved`: a name of the page's texts. */
  done: string;
  /** Lines of the document whose aliases were replaced by their texts. */
  replacedAliases: readonly number[];
}

/** The warnings of a response. */
export type Warnings = readonly { code: string; line?: number }[];

/** Returns the `Set-Cookie` that takes a notice to a page. */
export function noticeCookie(location: string, done: string, warnings: Warnings): string {
  const lines = warnings.flatMap(({ code, line = 0 }) => (code === "ALIAS_REPLACED" ? [line] : []));
  const { pathname } = new URL(location, "http://localhost");
  const value = new URLSearchParams({ page: pathname, done, lines: lines.slice(0, 100).join(".") });
  return setCookie(COOKIE, value.toString(), { maxAgeSeconds: MAX_AGE_SECONDS });
}

export const CLEARED_NOTICE = setCookie(COOKIE, "", { maxAgeSeconds: 0 });

/** Reads the notice of the request's cookie; null without one, or if it is another page's. */
export function readNotice(headers: Headers, pathname: string): Notice | null {
  const value = new URLSearchParams(readCookie(headers, COOKIE) ?? "");
  if (value.get("page") !== pathname) return null;
  const lines = (value.get("lines") ?? "").split(".").filter((line) => /^\d{1,7}$/.test(line));
  return { done: value.get("done") ?? "", replacedAliases: lines.map(Number) };
}

/** Renders the page's text for the notice, announced by screen readers; nothing for an unknown name. */
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
