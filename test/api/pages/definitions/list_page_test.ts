/** The list of definitions: empty lists, and filters by several tags. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

test("an empty list links to the form for a new definition, and an empty filtered list reports no match", async () => {
  await using api = await openTestApp();
  const { user } = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: user.id });
  const empty = async (path: string, as?: string) => {
    const page = await (await openPage(api, path, as)).text();
    return /<p class="empty">(.*?)<\/p>/.exec(page)?.[1];
  };
  expect(await empty("/definitions")).toBe("No definitions yet.");
  expect(await empty("/definitions", token)).toContain('<a href="/definitions/new">Create the first one</a>');
  expect(await empty("/definitions?type=agent", token)).toStartWith("Nothing matches.");
});

test("the filter form keeps every tag and filter, and each tag can be removed separately", async () => {
  await using api = await openTestApp();
  const page = await (
    await openPage(api, "/definitions?tag=one&type=agent&tag=two&tag=three&offset=25")
  ).text();
  // Browsers send fields in page order, so the fields must keep the order of the query.
  const fields = page.matchAll(/<input [^>]*(?:type="hidden"|form="filter-form")[^>]*>/g);
  const sent = [...fields].map(([field]) =>
    ["name", "value"].map((of) => field.match(` ${of}="(.*?)"`)?.[1]),
  );
  expect(sent).toEqual([
    ["tag", "one"],
    ["type", "agent"],
    ["tag", "two"],
    ["tag", "three"],
  ]);
  const removals = page.matchAll(/<a href="([^"]*)"><span class="visually-hidden">Remove the filter/g);
  expect([...removals].map(([, href]) => href?.replaceAll("&amp;", "&"))).toEqual([
    "/definitions?type=agent&tag=two&tag=three",
    "/definitions?tag=one&tag=two&tag=three",
    "/definitions?tag=one&type=agent&tag=three",
    "/definitions?tag=one&type=agent&tag=two",
  ]);
});
