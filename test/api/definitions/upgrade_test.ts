import { expect, test } from "bun:test";
import { TRANSLATOR_VERSION } from "../../../shared/definitions/translate/translate.ts";
import {
  agentYaml,
  ask,
  bareYaml,
  definitionOf,
  errorOf,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

test("upgrade creates the next MAJOR version from the given document and replaces the document's version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await write(api, "/agent/reviewer", person, { body: { yaml: bareYaml("agent", "reviewer") } });
  const upgrade = (body: unknown, name = "reviewer") =>
    write(api, `/agent/${name}/upgrade`, person, { body });
  const response = await upgrade({ yaml: agentYaml("reviewer", "7.7.7") });
  expect([response.status, await response.json()]).toEqual([
    201,
    {
      data: {
        type: "agent",
        name: "reviewer",
        version: "2.0.0",
        previousVersion: "1.0.0",
        translatorVersion: TRANSLATOR_VERSION,
        upgraded: true,
      },
    },
  ]);
  const next = await definitionOf(await ask(api, "/agent/reviewer@2.0.0", person));
  expect(next).toMatchObject({ status: "draft", runtimeMd: expect.any(String) });
  expect(next.yaml).toContain('version: "2.0.0"');
  expect(await errorOf(await upgrade({ yaml: agentYaml("reviewer") }))).toEqual([
    409,
    "ALREADY_DUAL_STORAGE",
    { version: "2.0.0" },
  ]);
});

test("an upgraded workflow keeps the tags and subdomain that its new document does not contain", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = bareYaml("workflow", "checks");
  await write(api, "/workflow/checks", person, { body: { yaml } });
  const columns = { tags: ["nightly"], subdomain: "ci" };
  await write(api, "/workflow/checks@1.0.0", person, { method: "PUT", body: columns });
  const lines = "    description: Checks what was built, every night.\n";
  const phases = "  orchestration:\n    phases: [{ id: all, name: All, steps: [{ command: check }] }]\n";
  await write(api, "/workflow/checks/upgrade", person, { body: { yaml: yaml + lines + phases } });
  expect(await definitionOf(await ask(api, "/workflow/checks@2.0.0", person))).toMatchObject(columns);
  await ask(api, "/workflow/checks@2.0.0", person, { method: "DELETE" });
  const tagged = `${yaml + lines}    tags: [weekly]\n${phases}`;
  await write(api, "/workflow/checks/upgrade", person, { body: { yaml: tagged } });
  const said = await definitionOf(await ask(api, "/workflow/checks@2.0.0", person));
  expect(said).toMatchObject({ tags: ["weekly"], subdomain: "ci" });
});

test("upgrade rejects invalid documents, documents of another definition and missing definitions", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await write(api, "/agent/reviewer", person, { body: { yaml: bareYaml("agent", "reviewer") } });
  const cases: readonly [string, unknown, readonly unknown[]][] = [
    ["reviewer", undefined, [400, "VALIDATION_ERROR"]],
    ["reviewer", { yaml: "" }, [400, "VALIDATION_ERROR"]],
    ["reviewer", { yaml: "x" }, [422, "UNPROCESSABLE_ENTITY"]],
    ["reviewer", { yaml: agentYaml("other") }, [422, "NAME_MISMATCH"]],
    ["reviewer", { yaml: bareYaml("agent", "reviewer") }, [422, "TRANSLATION_FAILED"]],
    ["other", { yaml: agentYaml("other") }, [404, "NOT_FOUND"]],
    ["reviewer@3.0.0", { yaml: agentYaml("reviewer") }, [404, "NOT_FOUND"]],
  ];
  for (const [name, body, refusal] of cases) {
    const response = await write(api, `/agent/${name}/upgrade`, person, { body });
    expect([name, body, ...(await errorOf(response)).slice(0, 2)]).toEqual([name, body, ...refusal]);
  }
});

test("upgrade refuses a document that cannot be rendered, reports the reason and creates nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = bareYaml("agent", "reviewer");
  await write(api, "/agent/reviewer", person, { body: { yaml } });
  const { translationError } = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  for (let tries = 0; tries < 2; tries += 1) {
    const response = await write(api, "/agent/reviewer/upgrade", person, { body: { yaml } });
    expect(await response.json()).toMatchObject({
      error: {
        code: "TRANSLATION_FAILED",
        message: expect.stringMatching(/^Cannot upgrade agent "reviewer"\. .* description/),
        details: translationError,
      },
    });
    expect(response.status).toBe(422);
  }
  expect([...(await api.db.sql`select version from definitions`)]).toEqual([{ version: "1.0.0" }]);
});

test("concurrent upgrades create only one new version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await write(api, "/agent/reviewer", person, { body: { yaml: bareYaml("agent", "reviewer") } });
  const body = { yaml: agentYaml("reviewer") };
  const responses = await Promise.all(
    Array.from({ length: 6 }, () => write(api, "/agent/reviewer/upgrade", person, { body })),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array(5).fill(409)]);
});
