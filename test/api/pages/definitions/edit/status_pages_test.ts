/** Publishing, deprecating, archiving and deleting definitions with forms. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  createAgent,
  definitionOf,
  publishAgent,
} from "../../../../helpers/definitions/definitions.ts";
import { makeReferencesSlow } from "../../../../helpers/definitions/slow_references.ts";
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

test("a published version is deprecated with a successor and then archived, each after a confirmation page", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const deprecation = await (await openPage(api, `${base}/deprecate`, token)).text();
  expect(deprecation).toContain("This cannot be undone.");
  const fields = { reason: "Too slow", successor: "code-reviewer@2.0.0" };
  const deprecated = await sendForm(api, `${base}/deprecate`, fields, { token });
  expect(deprecated.headers.get("location")).toBe(base);
  expect(await noticeAfter(api, deprecated, token)).toBe("This version is deprecated.");
  expect(await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person))).toMatchObject({
    status: "deprecated",
    deprecationReason: "Too slow",
    successor: "code-reviewer@2.0.0",
  });
  expect((await sendForm(api, `${base}/archive`, {}, { token })).status).toBe(303);
  const archived = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect(archived.status).toBe("archived");
});

test("a deprecation or archive form that is sent twice returns 303 both times", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  for (const [action, fields] of [
    ["deprecate", { reason: "Too slow" }],
    ["archive", {}],
  ] as const) {
    const hidden = hiddenFields(await (await openPage(api, `${base}/${action}`, token)).text(), "<h1>");
    for (const time of ["first", "second"]) {
      const sent = await sendForm(api, `${base}/${action}`, { ...hidden, ...fields }, { token });
      expect([action, time, sent.status]).toEqual([action, time, 303]);
    }
  }
});

test("an invalid successor is reported at its field, and the reason is kept", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  const fields = { reason: `<b>"old"</b>`, successor: "1 2 3" };
  const response = await sendForm(api, `${base}/deprecate`, fields, { token });
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(page).toContain('<p class="field-error" id="field-successor-error">Must be a name');
  expect(page).toContain("&lt;b&gt;&quot;old&quot;&lt;/b&gt;</textarea>");
  expect(page).toContain('value="1 2 3"');
});

test("an action that the version's status does not allow has no button and is refused", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  for (const [action, text] of [
    ["archive", "Only deprecated versions can be archived."],
    ["delete", "Only drafts can be deleted."],
  ]) {
    const page = await (await openPage(api, `${base}/${action}`, token)).text();
    expect([action, page.includes(text ?? ""), page.includes("Archive 1.0.0</button>")]).toEqual([
      action,
      true,
      false,
    ]);
    const sent = await sendForm(api, `${base}/${action}`, {}, { token });
    expect([action, sent.status]).toEqual([action, 409]);
  }
});

test("dependents are listed before a version is deprecated", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  await publishAgent(api, person, { name: "user", yaml: agentNeeding("user", ["reviewer@^1.0.0"]) });
  const page = await (await openPage(api, `${base}/deprecate`, token)).text();
  expect(page).toContain("1 definition may resolve to this version");
  expect(page).toContain(`agent @${person.org.slug}/user@1.0.0</a> requires <code>^1.0.0</code>`);
});

test("a version whose dependents take too long to list can still be deprecated and archived", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await publishAgent(api, person, { name: "reviewer" });
  for (const name of ["user-1", "user-2"]) {
    await publishAgent(api, person, { name, yaml: agentNeeding(name, ["reviewer@^1.0.0"]) });
  }
  await makeReferencesSlow(api.db, { name: "reviewer", seconds: 3 });
  for (const [action, fields] of [
    ["deprecate", { reason: "Too slow" }],
    ["archive", {}],
  ] as const) {
    const response = await openPage(api, `${base}/${action}`, token);
    expect([action, response.status]).toEqual([action, 200]);
    const page = await response.text();
    expect(page).toContain("<p>The dependents could not be listed now.</p>");
    expect(page).toContain("This cannot be undone.");
    expect((await sendForm(api, `${base}/${action}`, fields, { token })).status).toBe(303);
  }
  const archived = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect(archived.status).toBe("archived");
});

test("a draft can be deleted", async () => {
  const { api, person, token, base } = await openPublisher();
  await using _ = api;
  await createAgent(api, person, { name: "reviewer" });
  const response = await sendForm(api, `${base}/delete`, {}, { token });
  expect(response.headers.get("location")).toBe("/definitions");
  expect((await ask(api, "/agent/reviewer@1.0.0", person)).status).toBe(404);
});
