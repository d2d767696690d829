/** The list of definitions in a service that has none. */
import { expect, test } from "bun:test";
import { openTestApp } from "../../../helpers/http/app.ts";
import { openPage } from "../../../helpers/pages/forms.ts";

test("without definitions, the list leads to the first one, and only a filter matches nothing", async () => {
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
