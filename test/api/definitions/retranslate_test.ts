import { expect, test } from "bun:test";
import { TRANSLATOR_VERSION } from "../../../shared/definitions/translate/translate.ts";
import {
  agentYaml,
  ask,
  bareYaml,
  createAgent,
  definitionOf,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

/** Replaces the rendered text of a version with a text from an older translator. */
async function age(api: TestApp, id: string): Promise<void> {
  await api.db.sql`
    update definitions
    set runtime_md = 'old', prompt_hash = ${`sha256:${"0".repeat(64)}`}, translator_version = '0.9.0'
    where id = ${id}`;
}

test("everyone can read the translator's version", async () => {
  await using api = await openTestApp();
  const response = await ask(api, "/translation/version", null);
  expect(await response.json()).toEqual({ data: { translatorVersion: TRANSLATOR_VERSION } });
});

test("retranslate replaces an outdated rendering in place, even in a published version, and then changes nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await publishAgent(api, person, { name: "reviewer" });
  await age(api, made.id);
  const retranslate = async (body?: unknown) =>
    (await write(api, "/agent/reviewer@1.0.0/retranslate", person, { body })).json();
  const result = {
    type: "agent",
    name: "reviewer",
    version: "1.0.0",
    translatorVersion: TRANSLATOR_VERSION,
    newVersionCreated: false,
    newVersion: null,
  };
  expect(await retranslate()).toEqual({
    data: { ...result, previousTranslatorVersion: "0.9.0", changes: true },
  });
  const { updatedAt, ...anew } = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect({ ...anew, updatedAt: made.updatedAt }).toEqual(made);
  for (const body of [{}, { createNewVersion: true }]) {
    expect(await retranslate(body)).toEqual({
      data: { ...result, previousTranslatorVersion: TRANSLATOR_VERSION, changes: false },
    });
  }
});

test("a stored document with a field that is too long for new documents can still be rendered and compared", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const author = "x".repeat(1_001);
  const yaml = agentYaml("reviewer", "1.0.0", { author });
  const refused = await write(api, "/agent/reviewer", person, { body: { yaml } });
  expect(await errorOf(refused)).toEqual([
    422,
    "UNPROCESSABLE_ENTITY",
    {
      errors: [
        {
          path: "agent.interface.author",
          message: "author has 1001 characters; the maximum is 1000.",
          line: 9,
          column: 13,
        },
      ],
    },
  ]);
  const made = await createAgent(api, person, { name: "reviewer" });
  await api.db.sql`update definitions set yaml = ${yaml}, author = ${author} where id = ${made.id}`;
  await age(api, made.id);
  const response = await write(api, "/agent/reviewer@1.0.0/retranslate", person);
  expect(await response.json()).toMatchObject({ data: { changes: true } });
  const other = await createAgent(api, person, { name: "reviewer", version: "1.0.1" });
  const compared = await ask(api, `/agent/reviewer/diff?from=1.0.0&to=${other.version}`, person);
  expect(await compared.json()).toMatchObject({ hasChanges: true });
});

test("retranslate creates the next PATCH version on request and does not change the old version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { id } = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  await createAgent(api, person, { name: "reviewer", version: "1.0.3" });
  await age(api, id);
  const body = { createNewVersion: true };
  const response = await write(api, "/agent/reviewer@1.0.0/retranslate", person, { body });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { data: { version: "1.0.0", newVersionCreated: true, newVersion: "1.0.4", changes: true } },
  ]);
  const old = await definitionOf(await ask(api, "/agent/reviewer@1.0.0", person));
  expect(old).toMatchObject({ runtimeMd: "old", translatorVersion: "0.9.0" });
  const next = await definitionOf(await ask(api, "/agent/reviewer@1.0.4", person));
  expect(next).toMatchObject({
    status: "draft",
    visibility: "public",
    translatorVersion: TRANSLATOR_VERSION,
  });
  expect(next.yaml).toContain('version: "1.0.4"');
});

test("retranslate writes nothing if the text is the same", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  await write(api, "/agent/bare", person, { body: { yaml: bareYaml("agent", "bare") } });
  const bare = await definitionOf(await ask(api, "/agent/bare@1.0.0", person));
  // The stored text comes from an earlier translator, which rendered the same text.
  await api.db.sql`update definitions set translator_version = '0.9.0' where id = ${made.id}`;
  const state = () =>
    api.db.sql`
      select d.xmin::text, d.updated_at, (select count(*) from audit_log) as audited
      from definitions as d
      order by d.id`;
  const before = await state();
  for (const body of [undefined, {}, { createNewVersion: true }]) {
    for (const name of ["reviewer", "bare"]) {
      const response = await write(api, `/agent/${name}@1.0.0/retranslate`, person, { body });
      expect(await response.json()).toMatchObject({
        data: {
          changes: false,
          newVersionCreated: false,
          translatorVersion: name === "bare" ? null : "0.9.0",
        },
      });
    }
  }
  expect(await state()).toEqual(before);
  expect(await definitionOf(await ask(api, "/agent/reviewer", null))).toMatchObject({
    updatedAt: made.updatedAt,
  });
  expect((await definitionOf(await ask(api, "/agent/bare@1.0.0", person))).updatedAt).toBe(bare.updatedAt);
});

test("retranslate reports why a document still cannot be rendered and stores the current reason", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await write(api, "/agent/bare", person, { body: { yaml: bareYaml("agent", "bare") } });
  const { translationError } = await definitionOf(await ask(api, "/agent/bare@1.0.0", person));
  const retranslate = async () => (await write(api, "/agent/bare@1.0.0/retranslate", person)).json();
  const result = {
    data: {
      type: "agent",
      name: "bare",
      version: "1.0.0",
      // The definition was never rendered, so it has no translator version.
      translatorVersion: null,
      previousTranslatorVersion: null,
      newVersionCreated: false,
      newVersion: null,
      changes: false,
      translationError,
    },
  };
  expect(translationError).toEqual({ reason: "missing_description", path: expect.any(String) });
  expect(await retranslate()).toStrictEqual(result);
  await api.db.sql`update definitions set translation_error = '{"reason": "old", "path": "agent"}'`;
  expect(await retranslate()).toStrictEqual(result);
  expect(await definitionOf(await ask(api, "/agent/bare@1.0.0", person))).toMatchObject({ translationError });
});

test("retranslate keeps the old text if rendering fails and rejects archived versions", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await write(api, "/agent/bare", person, { body: { yaml: bareYaml("agent", "bare") } });
  const retranslate = (name: string) => write(api, `/agent/${name}/retranslate`, person);
  expect(await (await retranslate("bare@1.0.0")).json()).toMatchObject({ data: { changes: false } });
  const [row] = await api.db.sql<{ id: string }[]>`select id from definitions`;
  await api.db.sql`update definitions set translation_error = null`;
  await age(api, row?.id ?? "");
  expect(await (await retranslate("bare@1.0.0")).json()).toMatchObject({ data: { changes: false } });
  expect((await definitionOf(await ask(api, "/agent/bare@1.0.0", person))).runtimeMd).toBe("old");
  await makeDefinition(api.db.sql, person, { name: "gone", status: "archived" });
  expect((await errorOf(await retranslate("gone@1.0.0"))).slice(0, 2)).toEqual([409, "INVALID_TRANSITION"]);
  expect((await errorOf(await retranslate("bare"))).slice(0, 2)).toEqual([400, "VALIDATION_ERROR"]);
});
