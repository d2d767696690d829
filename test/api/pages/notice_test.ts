/** Notices that report the result of a form. */
import { expect, test } from "bun:test";
import { html } from "../../../api/pages/html.ts";
import { noticeCookie, readNotice, renderNotice } from "../../../api/pages/notice.ts";
import { BROWSER, openPage } from "../../helpers/pages/forms.ts";
import { openPageScene } from "../../helpers/pages/page_scene.ts";

const TEXTS = { saved: "The draft is saved." };

function shown(cookie: string, pathname = "/page"): string {
  return html`${renderNotice(readNotice(new Headers({ cookie }), pathname), TEXTS)}`.text;
}

function cookieOf(location: string, done: string, warnings: { code: string; line?: number }[] = []): string {
  return noticeCookie(location, done, warnings).split(";")[0] ?? "";
}

test("a notice is one of a fixed set of texts and appears only on the page after the form", () => {
  expect(shown(cookieOf("/page?org=demo", "saved"))).toBe(
    '<p class="notice" role="status" data-done="saved">The draft is saved.</p>',
  );
  expect(shown(`a=b; ${cookieOf("/page", "saved")}; c=d`)).toContain("saved");
  expect(shown(cookieOf("/other", "saved"))).toBe("");
  for (const name of ["", "Hello", "constructor", "toString", "__proto__"]) {
    expect([name, shown(cookieOf("/page", name))]).toEqual([name, ""]);
  }
  for (const cookie of [
    "",
    "ulr_notice",
    "ulr_notice=",
    "ulr_notice=%00&page=/page",
    "ulr_notice=%E0%A4%A",
  ]) {
    expect([cookie, shown(cookie)]).toEqual([cookie, ""]);
  }
  expect(cookieOf("/page", 'x; Domain="evil"\r\n')).not.toMatch(/[\s";]/);
});

test("a notice names the lines whose aliases were replaced", () => {
  const replaced = (lines: number[]) => lines.map((line) => ({ code: "ALIAS_REPLACED", line }));
  expect(shown(cookieOf("/page", "saved", [...replaced([6]), { code: "UNKNOWN_MODEL", line: 9 }]))).toBe(
    '<p class="notice" role="status" data-done="saved">The draft is saved. Also changed, on line 6: an alias is replaced by its text, because the value of its anchor has changed.</p>',
  );
  expect(shown(cookieOf("/page", "saved", replaced([1, 2, 3, 4, 5, 6, 7])))).toContain(
    "on lines 1, 2, 3, 4, 5 and 2 more: aliases are replaced by their texts, because the values of their anchors have changed.",
  );
  expect(shown("ulr_notice=page=/page&done=saved&lines=<b>.1e9.-1")).toBe(
    '<p class="notice" role="status" data-done="saved">The draft is saved.</p>',
  );
});

test("a page shows a notice only once, and only to signed-in users", async () => {
  await using scene = await openPageScene();
  const { api, owner } = scene;
  const path = "/settings/profile";
  const cookie = `ulr_session=${owner.token}; ${cookieOf(path, "saved")}`;
  const first = await api.request(path, { headers: { ...BROWSER, cookie } });
  expect(await first.text()).toContain("Profile saved.");
  expect(first.headers.getSetCookie()).toEqual(["ulr_notice=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"]);
  // Opening another page leaves the notice in place.
  const other = await api.request("/settings/keys", { headers: { ...BROWSER, cookie } });
  expect([other.status, other.headers.getSetCookie()]).toEqual([200, []]);
  for (const query of ["?notice=saved", "?done=saved"]) {
    const page = await openPage(api, path + query, owner.token);
    expect([page.status, (await page.text()).includes("Profile saved.")]).toEqual([200, false]);
  }
  const anonymous = { cookie: cookieOf("/definitions", "saved") };
  const list = await api.request("/definitions", { headers: { ...BROWSER, ...anonymous } });
  expect([list.status, list.headers.getSetCookie()]).toEqual([200, []]);
});
