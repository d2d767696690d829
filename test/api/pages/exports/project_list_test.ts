import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

const HOME = "/dashboard/exports";

async function openOrg(count: number) {
  await using opened = new AsyncDisposableStack();
  const api = opened.use(await openTestApp());
  const { user, org } = await api.make.person({ role: "publisher", tier: "pro" });
  const { token } = await api.make.session({ userId: user.id });
  await api.db.sql`
    insert into projects (org_id, owner_id, name, slug)
    select ${org.id}, ${user.id}, 'Unit ' || n, 'part-' || n from generate_series(1, ${count}::int) n`;
  const read = async (path: string) => {
    const text = await (await openPage(api, path, token)).text();
    const names = [...text.matchAll(/<span class="project-name">([^<]*)</g)].map(([, name]) => name);
    const [, told] = /<output id="filter-count"[^>]*>([^<]*)</.exec(text) ?? [];
    return { text, names, told };
  };
  const all = opened.move();
  return { org, read, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test("of many projects, the first 200 are shown, and the filter finds all others without a script", async () => {
  await using place = await openOrg(1000);
  const first = await place.read(HOME);
  expect([first.names.length, first.names[0], first.names.at(-1)]).toEqual([200, "Unit 1", "Unit 200"]);
  expect(first.told).toBe("The first 200 of 1,000 projects");
  expect(first.text.length).toBeLessThan(200_000);
  expect(first.text).toContain(
    '<form id="filter" class="filter" action="/dashboard/exports#projects-title">',
  );
  const few = await place.read(`${HOME}?projects=+UNIT+99`);
  expect(few.names).toEqual(
    ["99", "990", "991", "992", "993", "994", "995", "996", "997", "998", "999"].map((n) => `Unit ${n}`),
  );
  expect(few.told).toBe("11 matching projects");
  expect(few.text).toContain('value="UNIT 99"');
  const bySlug = await place.read(`${HOME}?projects=part-3`);
  expect([bySlug.names.length, bySlug.told]).toEqual([111, "111 matching projects"]);
  const none = await place.read(`${HOME}?projects=%22%3E%3Cb`);
  expect([none.names, none.told]).toEqual([[], "0 matching projects"]);
  expect(none.text).toContain('value="&quot;&gt;&lt;b"');
});

test("a page that shows all projects is filtered by the script, and a short list has no filter", async () => {
  await using some = await openOrg(10);
  const { text, told } = await some.read(HOME);
  expect([told, text.includes('<ul id="projects" class="rows">')]).toEqual(["", true]);
  await using few = await openOrg(7);
  expect((await few.read(HOME)).text).not.toContain('id="filter"');
});
