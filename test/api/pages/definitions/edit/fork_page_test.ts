/** Forking into the current organization. */
import { expect, test } from "bun:test";
import { ask, createAgent, definitionOf, publishAgent } from "../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { noticeAfter, openPage, sendForm } from "../../../../helpers/pages/forms.ts";
import { hiddenFields } from "../../../../helpers/pages/page_scene.ts";

async function openFork() {
  const api = await openTestApp();
  const source = await api.make.person({ role: "publisher" });
  const person = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: person.user.id });
  await publishAgent(api, source, { name: "reviewer", visibility: "public" });
  const path = `/definitions/agent/@${source.org.slug}/reviewer/fork`;
  return { api, person, token, path };
}

test("a public definition is forked into the current organization under another name", async () => {
  const { api, person, token, path } = await openFork();
  await using _ = api;
  const page = await (await openPage(api, path, token)).text();
  expect(page).toContain('required value="reviewer"');
  expect(page).toContain(`Fork into ${person.org.name}</button>`);
  const fields = { name: "my-reviewer", displayName: "Mine", visibility: "unlisted" };
  const response = await sendForm(api, path, fields, { token });
  const address = `/definitions/agent/@${person.org.slug}/my-reviewer@1.0.0/edit`;
  expect([response.status, response.headers.get("location")]).toEqual([303, address]);
  expect(await noticeAfter(api, response, token)).toBe("Forked. This is the first draft of your copy.");
  expect(await definitionOf(await ask(api, "/agent/my-reviewer@1.0.0", person))).toMatchObject({
    status: "draft",
    displayName: "Mine",
    visibility: "unlisted",
  });
});

test("a form that is sent twice creates one fork, and both responses lead to the fork", async () => {
  const { api, token, path } = await openFork();
  await using _ = api;
  const fields = { ...hiddenFields(await (await openPage(api, path, token)).text(), "<h1>"), name: "mine" };
  for (const time of ["first", "second"]) {
    const sent = await sendForm(api, path, fields, { token });
    expect([time, sent.status]).toEqual([time, 303]);
    expect(sent.headers.get("location")).toEndWith("/mine@1.0.0/edit");
  }
});

test("an invalid name is shown again with the rule for names", async () => {
  const { api, token, path } = await openFork();
  await using _ = api;
  const sent = await sendForm(api, path, { name: "My fork" }, { token });
  const page = await sent.text();
  expect([sent.status, page.includes('required value="My fork"')]).toEqual([400, true]);
  expect(page).toContain("Must be 1 to 100 characters of a-z, 0-9 and hyphens,");
});

test("no name is proposed for a fork in the source's own organization, because the source's name is taken", async () => {
  const { api, person, token } = await openFork();
  await using _ = api;
  await publishAgent(api, person, { name: "mine" });
  const page = await openPage(api, `/definitions/agent/@${person.org.slug}/mine/fork`, token);
  expect(await page.text()).toContain('maxlength="100" required value=""');
});

test("a taken name is an error, and the input is kept", async () => {
  const { api, person, token, path } = await openFork();
  await using _ = api;
  await createAgent(api, person, { name: "taken" });
  const response = await sendForm(
    api,
    path,
    { name: "taken", displayName: "<i>", visibility: "public" },
    { token },
  );
  const page = await response.text();
  expect(response.status).toBe(409);
  expect(page).toContain('value="taken"');
  expect(page).toContain('value="&lt;i&gt;"');
  expect(page).toContain("Choose another name");
});
