/** The version comparison page, for definitions with one version and with more than a hundred. */
import { expect, test } from "bun:test";
import { makeDefinition } from "../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

async function openOften(count: number) {
  const api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  const columns = { name: "often", status: "published", visibility: "public" } as const;
  for (let patch = 0; patch < count; patch += 1)
    await makeDefinition(api.db.sql, person, { ...columns, version: `1.0.${patch}` });
  const path = `/definitions/agent/@${person.org.slug}/often`;
  const open = (rest: string) => openPage(api, path + rest);
  return { api, open, read: async (rest: string) => (await open(rest)).text() };
}

test("with more than a hundred versions, any two can be compared, even an old version with the highest", async () => {
  const { api, read } = await openOften(101);
  await using _ = api;
  const chosen = async (rest: string) => {
    const page = await read(rest);
    expect(page).toContain("The suggestions are the highest 100 of 101 versions. You can type any other.");
    return [...page.matchAll(/<input id="(?:from|to)" name="\w+" value="([^"]*)"/g)].map(
      ([, value]) => value,
    );
  };
  expect(await chosen("/compare")).toEqual(["1.0.99", "1.0.100"]);
  expect(await chosen("@1.0.0/compare")).toEqual(["1.0.0", "1.0.100"]);
  expect(await chosen("/compare?from=1.0.0&to=1.0.1")).toEqual(["1.0.0", "1.0.1"]);
});

test("the page for a definition with one version says that there is only one, and has no form", async () => {
  const { api, read } = await openOften(1);
  await using _ = api;
  const page = await read("/compare");
  expect([page.includes("There is only one version."), page.includes('name="from"')]).toEqual([true, false]);
});

test("a typed version that does not exist shows the form again with an error", async () => {
  const { api, open } = await openOften(101);
  await using _ = api;
  const response = await open("/compare?from=1.0.101&to=1.0.0");
  const page = await response.text();
  expect([response.status, page.includes('<input id="from" name="from" value="1.0.101"')]).toEqual([
    404,
    true,
  ]);
  expect(page).toContain("One of these versions does not exist.");
});
