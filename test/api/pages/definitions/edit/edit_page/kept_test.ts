/** Saving a form keeps the fields that the form does not show: those of the draft or of the previous version. */
import { expect, test } from "bun:test";
import type { Definition } from "../../../../../../sql/definitions/fields.ts";
import {
  agentYaml,
  ask,
  bareYaml,
  createAgent,
  definitionOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../../helpers/http/app.ts";
import { openPage, sendForm } from "../../../../../helpers/pages/forms.ts";
import { hiddenFields } from "../../../../../helpers/pages/page_scene.ts";
import { waitFor } from "../../../../../helpers/wait_for.ts";

async function openPublisher() {
  const api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: person.user.id });
  /** Saves a document with the form of a version. `draft` is required if that version is a draft. */
  const save = (path: string, yaml: string, draft?: Definition) => {
    const fields = { yaml, visibility: "private", action: "save", expectedUpdatedAt: draft?.updatedAt ?? "" };
    const [type, name] = path.split("/");
    return sendForm(api, `/definitions/${type}/@${person.org.slug}/${name}/edit`, fields, { token });
  };
  const read = async (path: string) => definitionOf(await ask(api, `/${path}`, person));
  return { api, person, token, save, read };
}

test("a workflow keeps its subdomain and tags unless the YAML changes them", async () => {
  const { api, person, save, read } = await openPublisher();
  await using _ = api;
  const yaml = (version: string, tags: string) => `${bareYaml("workflow", "checks", version)}    ${tags}\n`;
  await write(api, "/workflow/checks", person, { body: { yaml: yaml("1.0.0", "tags: [first]") } });
  const columns = { subdomain: "ci", tags: ["by hand"] };
  await write(api, "/workflow/checks@1.0.0", person, { method: "PUT", body: columns });
  const draft = await read("workflow/checks@1.0.0");

  expect((await save("workflow/checks@1.0.0", yaml("1.0.0", "tags: [first] # mine"), draft)).status).toBe(
    303,
  );
  const saved = await read("workflow/checks@1.0.0");
  expect([saved.yaml.includes("# mine"), saved]).toEqual([true, expect.objectContaining(columns)]);

  await write(api, "/workflow/checks@1.0.0/publish", person);
  expect((await save("workflow/checks@1.0.0", yaml("1.0.1", "tags: [first]"))).status).toBe(303);
  expect(await read("workflow/checks@1.0.1")).toMatchObject(columns);

  const next = await read("workflow/checks@1.0.1");
  const changed = yaml("1.0.1", "tags: [second]\n    subdomain: delivery");
  expect((await save("workflow/checks@1.0.1", changed, next)).status).toBe(303);
  expect(await read("workflow/checks@1.0.1")).toMatchObject({ subdomain: "delivery", tags: ["second"] });
});

test("sending the form for a workflow's next version twice keeps tags that were changed in between", async () => {
  const { api, person, token, read } = await openPublisher();
  await using _ = api;
  const yaml = (version: string) => bareYaml("workflow", "checks", version);
  await write(api, "/workflow/checks", person, { body: { yaml: yaml("1.0.0") } });
  await write(api, "/workflow/checks@1.0.0", person, { method: "PUT", body: { tags: ["by hand"] } });
  await write(api, "/workflow/checks@1.0.0/publish", person);
  const path = `/definitions/workflow/@${person.org.slug}/checks@1.0.0/edit`;
  const hidden = hiddenFields(await (await openPage(api, path, token)).text(), "<h1>");
  const send = () => sendForm(api, path, { ...hidden, yaml: yaml("1.0.1"), action: "save" }, { token });
  expect((await send()).status).toBe(303);
  expect(await read("workflow/checks@1.0.1")).toMatchObject({ tags: ["by hand"] });
  await write(api, "/workflow/checks@1.0.1", person, { method: "PUT", body: { tags: ["later"] } });
  expect((await send()).headers.get("location")).toEndWith("/checks@1.0.1/edit");
  expect(await read("workflow/checks@1.0.1")).toMatchObject({ tags: ["later"] });
});

test("the next version keeps the provenance of the previous version", async () => {
  const { api, person, save, read } = await openPublisher();
  await using _ = api;
  const provenance = {
    authorshipType: "agent",
    contributors: [{ role: "author", type: "agent", name: "A" }],
  };
  await publishAgent(api, person, { name: "reviewer", provenance });
  expect((await save("agent/reviewer@1.0.0", agentYaml("reviewer", "1.0.1"))).status).toBe(303);
  const next = await read("agent/reviewer@1.0.1");
  expect(next).toMatchObject({ provenance });
  expect((await save("agent/reviewer@1.0.1", `${next.yaml}# mine\n`, next)).status).toBe(303);
  expect(await read("agent/reviewer@1.0.1")).toMatchObject({ provenance });
});

test("a draft below a hundred higher versions shows its summary, and its form can be sent twice", async () => {
  const { api, person, token, read } = await openPublisher();
  await using _ = api;
  await createAgent(api, person, { name: "reviewer" });
  await write(api, "/agent/reviewer@1.0.0", person, { method: "PUT", body: { changeSummary: "A backport" } });
  for (let patch = 0; patch < 100; patch += 1)
    await makeDefinition(api.db.sql, person, { name: "reviewer", version: `2.0.${patch}` });
  const { updatedAt } = await read("agent/reviewer@1.0.0");
  await waitFor(() => new Date().toISOString() > updatedAt);
  const path = `/definitions/agent/@${person.org.slug}/reviewer@1.0.0/edit`;
  const form = await (await openPage(api, path, token)).text();
  const hidden = hiddenFields(form, "<h1>");
  expect(hidden).toMatchObject({ savedSummary: "A backport" });
  const typed = { yaml: agentYaml("reviewer"), visibility: "private", changeSummary: "Another" };
  for (const time of ["first", "second"]) {
    const { status } = await sendForm(api, path, { ...hidden, ...typed, action: "save" }, { token });
    expect([time, status]).toEqual([time, 303]);
  }
});

test("the form proposes a next version that is free, even below a hundred higher versions", async () => {
  const { api, person, token } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  await createAgent(api, person, { name: "reviewer", version: "1.0.1" });
  for (let patch = 0; patch < 100; patch += 1)
    await makeDefinition(api.db.sql, person, { name: "reviewer", version: `2.0.${patch}` });
  const form = await openPage(api, `/definitions/agent/@${person.org.slug}/reviewer@1.0.0/edit`, token);
  expect(await form.text()).toContain("version: &quot;1.0.2&quot;");
});

test("the form does not create a definition if the name in its URL does not exist", async () => {
  const { api, person, save } = await openPublisher();
  await using _ = api;
  for (const path of ["agent/absent@1.0.0", "agent/absent"])
    expect([path, (await save(path, agentYaml("absent"))).status]).toEqual([path, 404]);
  expect((await ask(api, "/agent/absent@1.0.0", person)).status).toBe(404);
});
