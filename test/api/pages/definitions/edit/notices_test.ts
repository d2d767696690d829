/** The short notices that `?notice=` names. */
import { expect, test } from "bun:test";
import { renderNotice } from "../../../../../api/pages/definitions/edit/notices.ts";
import { html } from "../../../../../api/pages/html.ts";

function noticeOf(name: string): string {
  return html`${renderNotice(new URL(`http://localhost/definitions?notice=${name}`))}`.text;
}

test("a notice is one of ours, whatever the address names", () => {
  expect(noticeOf("saved")).toBe('<p class="notice" role="status">The draft is saved.</p>');
  for (const name of ["", "Hello", "constructor", "toString", "__proto__"]) {
    expect([name, noticeOf(name)]).toEqual([name, ""]);
  }
});
