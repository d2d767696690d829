import { expect, test } from "bun:test";
import {
  ask,
  createAgent,
  definitionOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { dataOf, makeFork } from "../../helpers/definitions/forks.ts";
import { openTestApp } from "../../helpers/http/app.ts";

/** A workflow as an author might write it, with a folded reference and CRLF line endings. */
const WORKFLOW = [
  "\uFEFF# Runs every night.",
  "workflow: # of the team",
  "  interface: { name: nightly, version: &v '1.0.0' , domain: software,",
  "    description: Checks everything once a night.}",
  "  build: 12345678901234567890   # exact",
  "  since: *v",
  "  orchestration:",
  "    phases:",
  "    - id: check",
  "      name: Check",
  "      steps:",
  "        - agent: >-  # the one of the team",
  "            helper@^1.0.0",
  "",
  "        # and by hand",
  "        - { agent: &h helper }",
  "        - agent: *h",
  "...",
  "",
].join("\r\n");

test("a fork into another organization changes only the name, the version and the references", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const reader = await api.make.person();
  const { slug } = author.org;
  await publishAgent(api, author, { name: "helper", visibility: "public" });
  const created = await write(api, "/workflow/nightly", author, {
    body: { yaml: WORKFLOW, visibility: "public" },
  });
  expect((await definitionOf(created)).yaml).toBe(WORKFLOW);
  await definitionOf(await write(api, "/workflow/nightly@1.0.0/publish", author));
  const { definition, warnings } = await makeFork(api, reader, "/workflow/nightly", { name: "mine" });
  expect(definition.yaml).toBe(
    WORKFLOW.replace("name: nightly", "name: mine")
      .replace("            helper@", `            @${slug}/helper@`)
      .replace("&h helper", `&h "@${slug}/helper"`),
  );
  // The fork keeps its source's version, so no alias is replaced.
  expect(warnings).not.toContainEqual(expect.objectContaining({ code: "ALIAS_REPLACED" }));
  const { definition: own } = await makeFork(api, author, "/workflow/nightly", { name: "own" });
  expect(own.yaml).toBe(WORKFLOW.replace("name: nightly", "name: own"));
});

test("PUT and new versions change only the affected bytes of the document, and replaced aliases cause warnings", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await definitionOf(await write(api, "/workflow/nightly", person, { body: { yaml: WORKFLOW } }));
  const put = (body: object) => ask(api, "/workflow/nightly@1.0.0", person, { method: "PUT", body });
  const changed = await put({ description: "Checks:\n\n- all", displayName: "no" });
  const described = WORKFLOW.replace("Checks everything once a night.", '"Checks:\\n\\n- all"').replace(
    "&v '1.0.0' ",
    `&v '1.0.0', displayName: "no" `,
  );
  const body = (await changed.json()) as object;
  expect(body).toMatchObject({ data: { yaml: described } });
  expect(Object.keys(body)).toEqual(["data"]);
  await api.db.sql`update definitions set runtime_md = 'old'`;
  const retranslated = await write(api, "/workflow/nightly@1.0.0/retranslate", person, {
    body: { createNewVersion: true },
  });
  expect(await retranslated.json()).toMatchObject({
    data: { newVersion: "1.0.1" },
    warnings: [{ code: "ALIAS_REPLACED", path: "workflow.since", line: 6, column: 10, details: {} }],
  });
  const { yaml } = await dataOf(await ask(api, "/workflow/nightly@1.0.1", person));
  expect(yaml).toBe(described.replace("'1.0.0'", "'1.0.1'").replace("since: *v", "since: '1.0.0'"));
});

test("upgrade sets the version in the author's text", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeDefinition(api.db.sql, person, {
    type: "workflow",
    name: "nightly",
    version: "1.0.0",
    status: "published",
  });
  const upgraded = await write(api, "/workflow/nightly/upgrade", person, { body: { yaml: WORKFLOW } });
  expect(await upgraded.json()).toMatchObject({
    data: { version: "2.0.0" },
    warnings: [{ code: "ALIAS_REPLACED" }],
  });
  const { yaml } = await dataOf(await ask(api, "/workflow/nightly@2.0.0", person));
  expect(yaml).toBe(WORKFLOW.replace("'1.0.0'", "'2.0.0'").replace("since: *v", "since: '1.0.0'"));
});

test("a PUT of a single field is refused if the stored document is no longer valid", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { id, yaml } = await createAgent(api, person, { name: "reviewer" });
  const merged = `base: &b { a: 1 }\n${yaml}  extra:\n    <<: *b\n`;
  await api.db.sql`update definitions set yaml = ${merged} where id = ${id}`;
  const refused = await ask(api, "/agent/reviewer@1.0.0", person, {
    method: "PUT",
    body: { domain: "legal" },
  });
  expect(refused.status).toBe(422);
  const problem = { path: 'agent.extra["<<"]', message: expect.stringContaining("Merge keys"), line: 13 };
  const error = { code: "UNPROCESSABLE_ENTITY", details: { errors: [problem] } };
  expect(await refused.json()).toMatchObject({ error });
});
