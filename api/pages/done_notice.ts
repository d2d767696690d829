/** The short notice on the page that a form leads to. */
import { type Content, html } from "./html.ts";

/** Returns the text for `?done=`, announced by screen readers; nothing for any other value. */
export function doneNotice({ searchParams }: URL, texts: Readonly<Record<string, string>>): Content {
  const done = searchParams.get("done") ?? "";
  return Object.hasOwn(texts, done) && html`<p class="notice" role="status">${texts[done]}</p>`;
}
