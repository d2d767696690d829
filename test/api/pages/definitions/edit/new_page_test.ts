/** Creating a definition with the form. */
import { expect, test } from "bun:test";
import { DEFINITION_TYPES } from "../../../../../shared/vocabulary.ts";
import {
  agentYaml,
  ask,
  createAgent,
  definitionOf,
  publishAgent,
} from "../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { noticeAfter, openPage, sendForm } from "../../../../helpers/pages/forms.ts";
import { hiddenFields } from "../../../../helpers/pages/page_scene.ts";

async function openPublisher() {
  const api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: person.user.id });
  return { api, person, token, path: "/definitions/new" };
}

test("a document is checked without being stored, then saved as a draft", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const fields = { type: "agent", yaml: agentYaml("reviewer"), visibility: "public" };
  const checked = await sendForm(api, path, { ...fields, action: "check" }, { token });
  expect([checked.status, await checked.text()]).toEqual([200, expect.stringContaining("No errors.")]);
  expect((await ask(api, "/agent/reviewer@1.0.0", person)).status).toBe(404);
  const saved = await sendForm(api, path, { ...fields, action: "save" }, { token });
  expect([saved.status, saved.headers.get("location")]).toEqual([
    303,
    `/definitions/agent/@${person.org.slug}/reviewer@1.0.0/edit`,
  ]);
  const stored = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect(stored).toMatchObject({ yaml: fields.yaml, status: "draft", visibility: "public" });
  expect(await noticeAfter(api, saved, token)).toBe("The draft is saved.");
});

test("a form that is sent twice saves one draft, and both responses lead to the draft", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const hidden = hiddenFields(await (await openPage(api, path, token)).text(), "<h1>");
  const fields = { ...hidden, yaml: agentYaml("reviewer"), action: "save" };
  for (const time of ["first", "second"]) {
    const sent = await sendForm(api, path, fields, { token });
    expect([time, sent.status, sent.headers.get("location")]).toEqual([
      time,
      303,
      `/definitions/agent/@${person.org.slug}/reviewer@1.0.0/edit`,
    ]);
  }
  expect(await api.db.sql`select from definitions`).toHaveLength(1);
});

test("the error for an existing version suggests an action on the page and does not mention X-Org-Slug", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await createAgent(api, person, { name: "reviewer" });
  const yaml = agentYaml("reviewer");
  for (const action of ["check", "save"]) {
    const page = await (await sendForm(api, path, { type: "agent", yaml, action }, { token })).text();
    expect([action, page.includes("X-Org-Slug")]).toEqual([action, false]);
    expect(page).toContain(
      "Use another version. You can choose another organization at the top of the page.",
    );
  }
});

test("sending a form again with another document is an error, but the returned form can be saved", async () => {
  const { api, token, path } = await openPublisher();
  await using _ = api;
  const hidden = hiddenFields(await (await openPage(api, path, token)).text(), "<h1>");
  const send = (name: string, sent: Record<string, string>) =>
    sendForm(api, path, { ...sent, yaml: agentYaml(name), action: "save" }, { token });
  expect((await send("reviewer", hidden)).status).toBe(303);
  const refused = await send("other", hidden);
  const page = await refused.text();
  expect([refused.status, page.includes("name: other")]).toEqual([422, true]);
  expect(page).toContain("This form was sent before, with other values.");
  expect((await send("other", hiddenFields(page, "<h1>"))).status).toBe(303);
});

test("errors are listed with line, column and context, and the input is kept", async () => {
  const { api, token, path } = await openPublisher();
  await using _ = api;
  const yaml = agentYaml("reviewer").replace('"1.0.0"', "1.0");
  for (const action of ["check", "save"]) {
    const response = await sendForm(
      api,
      path,
      { type: "agent", yaml, visibility: "unlisted", action },
      { token },
    );
    const page = await response.text();
    expect(response.status).toBe(action === "check" ? 200 : 422);
    expect(page).toContain('<a href="#field-yaml" data-line="4" data-column="14">Line 4, column 14</a>');
    expect(page).toContain("<mark>4      version: 1.0\n</mark>");
    expect(page).toContain("    version: 1.0\n    displayName: Reviewer");
    expect(page).toContain('<option value="unlisted" selected>');
  }
  const rows = await api.db.sql`select id from definitions`;
  expect(rows).toHaveLength(0);
});

test("a check suggests a version and lists the dependents that would not get the new version", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "base" });
  const yaml = agentYaml("user", "1.0.0", { dependencies: '{ requires: ["base@^1.0.0"] }' });
  await publishAgent(api, person, { name: "user", yaml });
  const next = agentYaml("base", "2.0.0", { description: "Something else.", domain: "security" });
  const response = await sendForm(api, path, { type: "agent", yaml: next, action: "check" }, { token });
  const page = await response.text();
  expect(page).toContain("version: <b>1.");
  expect(page).toContain("1 dependent would not get this version");
  expect(page).toContain(`agent @${person.org.slug}/user@1.0.0</a> requires <code>^1.0.0</code>`);
});

test("an existing version is an error that names the next free version", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  await createAgent(api, person, { name: "reviewer" });
  const fields = { type: "agent", yaml: agentYaml("reviewer"), action: "save" };
  const response = await sendForm(api, path, fields, { token });
  expect(response.status).toBe(422);
  expect(await response.text()).toContain("next free one is <b>1.0.1</b>");
});

test("200 kB of YAML is refused as too large, and remains in the form", async () => {
  const { api, token, path } = await openPublisher();
  await using _ = api;
  // Form encoding turns each of the character's two bytes into three bytes.
  const yaml = `${agentYaml("reviewer")}# ${"é".repeat(100_000)}`;
  const response = await sendForm(api, path, { type: "agent", yaml, action: "save" }, { token });
  const page = await response.text();
  expect(response.status).toBe(422);
  expect(page).toContain("153600");
  expect(page).toContain("é".repeat(100_000));
});

test("every template is a valid document of its type", async () => {
  const { api, token, path } = await openPublisher();
  await using _ = api;
  for (const type of DEFINITION_TYPES) {
    const form = await (await openPage(api, `${path}?type=${type}`, token)).text();
    const [, yaml = ""] = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(form) ?? [];
    const text = yaml.replaceAll("&quot;", '"');
    const response = await sendForm(api, path, { type, yaml: text, action: "check" }, { token });
    expect([type, await response.text()]).toEqual([type, expect.stringContaining("No errors.")]);
  }
});

test("line endings that browsers send do not change the document", async () => {
  const { api, person, token, path } = await openPublisher();
  await using _ = api;
  const yaml = `\n# begins with an empty line\n${agentYaml("reviewer")}`;
  await sendForm(
    api,
    path,
    { type: "agent", yaml: yaml.replaceAll("\n", "\r\n"), action: "save" },
    { token },
  );
  const stored = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect(stored.yaml).toBe(yaml);
  const form = await openPage(api, `/definitions/agent/@${person.org.slug}/reviewer@1.0.0/edit`, token);
  expect(await form.text()).toContain(">\n\n# begins with an empty line\n");
});
