/** Components that several pages use. */
import { expect, test } from "bun:test";
import { pager, readOffset, recordTable } from "../../../api/pages/parts.ts";
import { openTestApp } from "../../helpers/http/app.ts";
import { openPage } from "../../helpers/pages/forms.ts";

/** Returns the text and the links of a list's pager. */
function read(list: { offset: number; shown: number; total: number }) {
  const content = pager({ ...list, limit: 50 }, (offset) => `/list?offset=${offset}`);
  const text = String(content ?? "");
  return {
    range: /<span class="quiet">([^<]*)</.exec(text)?.[1] ?? null,
    links: [...text.matchAll(/rel="(\w+)" href="([^"]*)"/g)].map(([, rel, href]) => `${rel} ${href}`),
  };
}

test.each([
  [
    { offset: 0, shown: 50, total: 50 },
    { range: null, links: [] },
  ],
  [
    { offset: 0, shown: 50, total: 1051 },
    { range: "1–50 of 1,051", links: ["next /list?offset=50"] },
  ],
  [
    { offset: 50, shown: 50, total: 1051 },
    { range: "51–100 of 1,051", links: ["prev /list?offset=null", "next /list?offset=100"] },
  ],
  [
    { offset: 100, shown: 1, total: 101 },
    { range: "101–101 of 101", links: ["prev /list?offset=50"] },
  ],
  // An offset beyond the end of the list.
  [
    { offset: 150, shown: 0, total: 101 },
    { range: "101 in all", links: ["prev /list?offset=100"] },
  ],
])("the pager for %p shows the range and the links", (list, expected) => {
  expect(read(list)).toEqual(expected);
});

test("in a table of records, numbers and their headings have the class number", () => {
  const text = String(recordTable("Rows", ["Name", "Count"], [["one", 1234]]));
  expect(text).toContain(`<th scope="col" class="number">Count</th>`);
  expect(text).toContain(`<td class="number" data-label="Count">1,234</td>`);
});

test.each(["abc", "-1", "1.5", "1e30", "99999999999"])(
  "the offset %p shows the start of a list",
  (offset) => {
    expect(readOffset(new URL(`http://localhost/list?offset=${offset}`))).toBe(0);
  },
);

test("a page with an invalid offset returns 200", async () => {
  await using api = await openTestApp();
  const { user, org } = await api.make.person();
  const { token } = await api.make.session({ userId: user.id });
  for (const path of [`/orgs/${org.slug}`, "/dashboard/exports/jobs"]) {
    const response = await openPage(api, `${path}?organization=${org.slug}&offset=abc`, token);
    expect([path, response.status]).toEqual([path, 200]);
  }
});
