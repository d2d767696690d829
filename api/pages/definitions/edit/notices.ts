/** Short notices of what a form has done, which the next page shows: `?notice=saved`. */
import { type Content, html } from "../../html.ts";

const NOTICES: Readonly<Record<string, string>> = {
  saved: "The draft is saved.",
  published: "Published. This version can no longer change.",
  deprecated: "This version is deprecated.",
  archived: "This version is archived.",
  retranslated: "The Markdown was rendered again.",
  unchanged: "The current translator renders the same Markdown. Nothing was changed.",
  untranslatable: "The current translator cannot render this document. The stored Markdown was kept.",
  forked: "Forked. This is the first draft of your copy.",
};

/** Renders the notice that the query names; null without one. */
export function renderNotice(url: URL): Content {
  const name = url.searchParams.get("notice") ?? "";
  return Object.hasOwn(NOTICES, name) && html`<p class="notice" role="status">${NOTICES[name]}</p>`;
}
