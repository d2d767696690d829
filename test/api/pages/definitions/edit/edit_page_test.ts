/** Editing a draft, and creating the next version of a published definition. */
import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  createAgent,
  definitionOf,
  publishAgent,
} from "../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../../helpers/pages/forms.ts";
import { hiddenFields } from "../../../../helpers/pages/page_scene.ts";
import { waitFor } from "../../../../helpers/wait_for.ts";

async function openPublisher() {
  const api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: person.user.id });
  const path = (version: string) => `/definitions/agent/@${person.org.slug}/reviewer${version}/edit`;
  return { api, person, token, path };
}

/** Returns the value of a hidden field. */
function hiddenIn(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "";
}

test("a URL without a version redirects to the highest version", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  await createAgent(api, person, { name: "reviewer", version: "1.1.0" });
  const response = await openPage(api, path(""), token);
  expect([response.status, response.headers.get("location")]).toEqual([303, path("@1.1.0")]);
});

test("a draft is checked and saved under its own version", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await createAgent(api, person, { name: "reviewer" });
  const form = await (await openPage(api, path("@1.0.0"), token)).text();
  expect(form).toContain("Saving changes the draft 1.0.0");
  const expectedUpdatedAt = hiddenIn(form, "expectedUpdatedAt");
  const yaml = `# mine\n${agentYaml("reviewer")}`;
  const fields = { yaml, visibility: "public", changeSummary: "A comment", expectedUpdatedAt };
  const checked = await sendForm(api, path("@1.0.0"), { ...fields, action: "check" }, { token });
  expect(await checked.text()).toContain("No errors. It can be published.");
  const saved = await sendForm(api, path("@1.0.0"), { ...fields, action: "save" }, { token });
  expect(saved.status).toBe(303);
  expect(await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person))).toMatchObject({
    yaml,
    visibility: "public",
  });
  const summary = async () =>
    (await api.db.sql`select change_summary as summary from definitions`)[0]?.["summary"];
  expect(await summary()).toBe("A comment");
  const next = async (changed: Record<string, string>) => {
    const page = await (await openPage(api, path("@1.0.0"), token)).text();
    const kept = {
      savedSummary: hiddenIn(page, "savedSummary"),
      expectedUpdatedAt: hiddenIn(page, "expectedUpdatedAt"),
    };
    return sendForm(api, path("@1.0.0"), { ...fields, ...kept, ...changed, action: "save" }, { token });
  };
  expect((await next({ changeSummary: "" })).status).toBe(303);
  expect(await summary()).toBe("");
  // A form that was opened before the summary changed does not overwrite the new summary.
  await api.db.sql`update definitions set change_summary = 'A reason'`;
  expect((await next({ changeSummary: "", savedSummary: "" })).status).toBe(303);
  expect(await summary()).toBe("A reason");
});

test('"save and publish" saves the input and leads to the confirmation page', async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const form = await (await openPage(api, path("@1.0.0"), token)).text();
  // The page has no link to itself, and no link that would publish without saving the input.
  expect(form).not.toContain("New version</a>");
  expect(form).not.toContain("Publish…</a>");
  const yaml = agentYaml("reviewer", "1.1.0", { domain: "security" });
  const fields = { yaml, visibility: "private", changeSummary: "", expectedUpdatedAt: "", action: "publish" };
  const saved = await sendForm(api, path("@1.0.0"), fields, { token });
  const publishing = path("@1.1.0").replace("/edit", "/publish");
  expect([saved.status, saved.headers.get("location")]).toEqual([303, publishing]);
  const page = await (await openPage(api, publishing, token)).text();
  expect(page).toContain("<details open><summary>Changes of the YAML since 1.0.0</summary>");
  expect(page).toContain("+    domain: security");
  expect(page).toContain("<details open><summary>1 change since 1.0.0</summary>");
  // The diff of the YAML requires a paid plan. The list of changes does not.
  await api.db.sql`update organizations set subscription_tier = 'free'`;
  const free = await (await openPage(api, publishing, token)).text();
  expect(free).not.toContain("Changes of the YAML");
  expect(free).toContain("<details open><summary>1 change since 1.0.0</summary>");
});

test("the second of two people who edit a draft sees both texts and can then overwrite the saved text", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  await waitFor(() => new Date().toISOString() > updatedAt);
  const form = await (await openPage(api, path("@1.0.0"), token)).text();
  const expectedUpdatedAt = hiddenIn(form, "expectedUpdatedAt");
  const first = `# first\n${agentYaml("reviewer")}`;
  const yaml = `# second\n${agentYaml("reviewer")}`;
  const change = { yaml: first, visibility: "private" };
  await ask(api, "/agent/reviewer@1.0.0", person, { method: "PUT", body: change });
  const fields = { yaml, visibility: "public", action: "save" };
  const response = await sendForm(api, path("@1.0.0"), { ...fields, expectedUpdatedAt }, { token });
  const page = await response.text();
  expect(response.status).toBe(409);
  expect(page).toContain("It has changed since you read it");
  expect(page).toContain('aria-label="Saved text">\n# first');
  expect(page).toContain("The saved visibility is <b>private</b>. Saving sets it to <b>public</b>.");
  expect(page).toMatch(/<textarea[^>]*>\n# second/);
  const again = { ...fields, expectedUpdatedAt: hiddenIn(page, "expectedUpdatedAt") };
  expect((await sendForm(api, path("@1.0.0"), again, { token })).status).toBe(303);
  expect((await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person))).yaml).toBe(yaml);
});

test("a draft whose form is sent twice is saved without a conflict", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  await waitFor(() => new Date().toISOString() > updatedAt);
  const hidden = hiddenFields(await (await openPage(api, path("@1.0.0"), token)).text(), "<h1>");
  const yaml = `# mine\n${agentYaml("reviewer")}`;
  const fields = { ...hidden, yaml, visibility: "private", changeSummary: "A comment", action: "save" };
  const statusOf = async (more: object) =>
    (await sendForm(api, path("@1.0.0"), { ...fields, ...more }, { token })).status;
  for (const time of ["first", "second"]) expect([time, await statusOf({})]).toEqual([time, 303]);
  for (const other of [{ yaml: `${yaml}# more\n` }, { visibility: "public" }, { changeSummary: "Another" }])
    expect([other, await statusOf(other)]).toEqual([other, 409]);
});

test("sending the form for a next version twice adds one draft, and both responses lead to the draft", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const hidden = hiddenFields(await (await openPage(api, path("@1.0.0"), token)).text(), "<h1>");
  const fields = { ...hidden, yaml: agentYaml("reviewer", "1.1.0"), visibility: "private", action: "save" };
  for (const time of ["first", "second"]) {
    const sent = await sendForm(api, path("@1.0.0"), fields, { token });
    expect([time, sent.status, sent.headers.get("location")]).toEqual([time, 303, path("@1.1.0")]);
  }
});

test("saving a draft that was published in the meantime changes nothing and keeps the input", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const { updatedAt } = await publishAgent(api, person, { name: "reviewer" });
  const fields = { yaml: "# typed", visibility: "private", action: "save", expectedUpdatedAt: updatedAt };
  const response = await sendForm(api, path("@1.0.0"), fields, { token });
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(page).toContain("Only drafts can be edited");
  expect(page).toMatch(/<textarea[^>]*>\n# typed</);
  // The form now adds a version instead of changing the draft.
  expect([hiddenIn(page, "expectedUpdatedAt"), page.includes("is published and cannot change")]).toEqual([
    "",
    true,
  ]);
  const same = { ...fields, yaml: agentYaml("reviewer"), action: "check" };
  const checked = await (await sendForm(api, path("@1.0.0"), same, { token })).text();
  expect(checked).not.toContain("It can be published");
  expect(checked).toContain("1 error. Fix it before publishing.");
  const next = { ...fields, yaml: agentYaml("reviewer", "1.0.1"), expectedUpdatedAt: "" };
  const saved = await sendForm(api, path("@1.0.0"), next, { token });
  expect(saved.headers.get("location")).toStartWith(path("@1.0.1"));
});

test("the form proposes the next version of a published definition", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const form = await (await openPage(api, path("@1.0.0"), token)).text();
  expect(form).toContain("is published and cannot change");
  expect(form).toContain("version: &quot;1.0.1&quot;");
  const yaml = agentYaml("reviewer", "1.1.0");
  const fields = { yaml, visibility: "public", action: "save", expectedUpdatedAt: "" };
  const saved = await sendForm(api, path("@1.0.0"), fields, { token });
  expect(saved.headers.get("location")).toStartWith(path("@1.1.0"));
  const draft = await definitionOf(await ask(api, "/agent/reviewer@1.1.0", person));
  expect(draft).toMatchObject({ status: "draft", visibility: "public", yaml });
});

test("a name or version other than the draft's is an error, and the input is kept", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const { updatedAt } = await createAgent(api, person, { name: "reviewer" });
  for (const [yaml, text] of [
    [agentYaml("other"), "Make them equal"],
    [agentYaml("reviewer", "1.0.1"), "Make them equal"],
  ] as const) {
    const fields = { yaml, visibility: "private", action: "save", expectedUpdatedAt: updatedAt };
    const response = await sendForm(api, path("@1.0.0"), fields, { token });
    const page = await response.text();
    expect([response.status, page.includes(text), page.includes(Bun.escapeHTML(yaml))]).toEqual([
      422,
      true,
      true,
    ]);
  }
});
