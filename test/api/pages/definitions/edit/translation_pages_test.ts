/** Rendering definitions again, and upgrading definitions without Markdown. */
import { expect, test } from "bun:test";
import {
  agentYaml,
  ask,
  bareYaml,
  definitionOf,
  publishAgent,
  write,
} from "../../../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../../../helpers/http/app.ts";
import { noticeAfter, openPage, sendForm } from "../../../../helpers/pages/forms.ts";
import { hiddenFields } from "../../../../helpers/pages/page_scene.ts";

async function openPublisher() {
  const api = await openTestApp();
  const person = await api.make.person({ role: "publisher" });
  const { token } = await api.make.session({ userId: person.user.id });
  const base = `/definitions/agent/@${person.org.slug}/reviewer@1.0.0`;
  return { api, person, token, base };
}

test("a new version reports which aliases were replaced in its document", async () => {
  const { api, person, token } = await openPublisher();
  await using _ = api;
  const yaml =
    'agent:\n  interface:\n    name: aliased\n    version: &v "1.0.0"\n    displayName: Aliased\n    agentType: explorer\n    domain: software\n' +
    "    description: Has its version twice, once as an alias of the other.\n  since: *v\n" +
    "  mission:\n    opener: You review one change at a time and report what you find.\n";
  await publishAgent(api, person, { name: "aliased", yaml });
  await api.db.admin`update definitions set runtime_md = 'old'`;
  const path = `/definitions/agent/@${person.org.slug}/aliased@1.0.0/retranslate`;
  const added = await sendForm(api, path, { createNewVersion: "true" }, { token });
  expect(await noticeAfter(api, added, token)).toBe(
    "The draft is saved. Also changed, on line 9: an alias is replaced by its text, because the value of its anchor has changed.",
  );
});

test("rendering a draft again reports whether its text changed", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  expect(await (await openPage(api, `${base}/retranslate`, token)).text()).toContain("Render again</button>");
  const same = await sendForm(api, `${base}/retranslate`, {}, { token });
  expect(await noticeAfter(api, same, token)).toStartWith(
    "The current translator renders the same Markdown.",
  );
  await api.db.admin`update definitions set runtime_md = 'old'`;
  const added = await sendForm(api, `${base}/retranslate`, { createNewVersion: "true" }, { token });
  expect(added.headers.get("location")).toEndWith("/reviewer@1.0.1");
  const replaced = await sendForm(api, `${base}/retranslate`, {}, { token });
  expect(await noticeAfter(api, replaced, token)).toBe("The Markdown was rendered again.");
});

test("sending a form twice creates one draft", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  await write(api, "/agent/bare", person, { body: { yaml: bareYaml("agent", "bare") } });
  await api.db.admin`update definitions set runtime_md = 'old' where name = 'reviewer'`;
  for (const [path, fields, made] of [
    [`${base}/retranslate`, { createNewVersion: "true" }, "/reviewer@1.0.1"],
    [`${base.replace("reviewer", "bare")}/upgrade`, { yaml: agentYaml("bare") }, "/bare@2.0.0/edit"],
  ] as const) {
    const hidden = hiddenFields(await (await openPage(api, path, token)).text(), "<h1>");
    for (const time of ["first", "second"]) {
      const sent = await sendForm(api, path, { ...hidden, ...fields }, { token });
      expect([time, sent.status, sent.headers.get("location")]).toEqual([
        time,
        303,
        expect.stringMatching(new RegExp(`${made}$`)),
      ]);
    }
  }
  expect(await api.db.sql`select from definitions`).toHaveLength(4);
});

test("a definition with Markdown cannot be upgraded, and the page links to what can be done instead", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const page = await (await openPage(api, `${base}/upgrade`, token)).text();
  expect(page).toContain("Only definitions without Markdown can be upgraded.");
  for (const next of ["edit", "retranslate"]) expect(page).toContain(`href="${base}/${next}"`);
  expect(page).toContain(`href="${base}">Back</a>`);
});

test("a definition without Markdown can be upgraded to the next major version", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await write(api, "/agent/reviewer", person, { body: { yaml: bareYaml("agent", "reviewer") } });
  const page = await (await openPage(api, `${base}/upgrade`, token)).text();
  expect(page).toContain("has no Markdown");
  const failed = await sendForm(api, `${base}/upgrade`, { yaml: bareYaml("agent", "reviewer") }, { token });
  expect([failed.status, (await failed.text()).includes("Cannot upgrade agent")]).toEqual([422, true]);
  const saved = await sendForm(api, `${base}/upgrade`, { yaml: agentYaml("reviewer") }, { token });
  expect(saved.headers.get("location")).toEndWith("/reviewer@2.0.0/edit");
  expect((await definitionOf(await ask(api, "/agent/reviewer@2.0.0", person))).status).toBe("draft");
});
