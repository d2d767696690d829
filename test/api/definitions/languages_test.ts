import { expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { DEFINITION_TYPES } from "../../../shared/vocabulary.ts";
import { agentYaml, createAgent } from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

interface Language {
  id: string;
  definitionType: string;
  currentVersion: string;
  schema?: { schemaUrl: string; content: { title: string } };
}

test("everyone can read the four languages, each with its schema and the schema's URL", async () => {
  await using api = await openTestApp({ config: { publicUrl: "https://ulr.example" } });
  const response = await api.request("/api/v1/languages");
  expect([response.status, response.headers.has("etag")]).toEqual([200, true]);
  const { data } = (await response.json()) as { data: { languages: Language[]; total: number } };
  expect([data.total, data.languages.map(({ definitionType }) => definitionType)]).toEqual([
    ...[4, [...DEFINITION_TYPES]],
  ]);
  expect(data.languages.map(({ id }) => id)).toEqual(["adl", "cdl", "wdl", "pdl"]);
  expect(data.languages[0]).toEqual({
    id: "adl",
    displayName: "Agent Definition Language",
    abbreviation: "ADL",
    description: expect.stringMatching(/^Describes an agent/),
    definitionType: "agent",
    currentVersion: "1.0",
    status: "active",
  } as Language);
  for (const language of data.languages) {
    const one = (await (await api.request(`/api/v1/languages/${language.id}`)).json()) as { data: Language };
    const schemaUrl = `https://ulr.example/schemas/${language.definitionType}.json`;
    const content = (await (await api.request(new URL(schemaUrl).pathname)).json()) as { title: string };
    const schema = { version: "1.0", title: content.title, schemaUrl, content };
    expect(one.data).toEqual({ ...language, schema });
  }
});

test("a request for languages with a matching ETag returns 304", async () => {
  await using api = await openTestApp();
  for (const path of ["/api/v1/languages", "/api/v1/languages/adl"]) {
    const { headers } = await api.request(path);
    const again = await api.request(path, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect([path, again.status]).toEqual([path, 304]);
  }
});

test("a definition's schemaVersion is the current version of its language", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const made = await createAgent(api, person, { name: "reviewer", yaml: agentYaml("reviewer") });
  const { data } = (await (await api.request("/api/v1/languages/adl")).json()) as { data: Language };
  expect(made.schemaVersion).toBe(data.currentVersion);
});

test("an unknown language returns 404 with the known languages", async () => {
  await using api = await openTestApp();
  const response = await api.request("/api/v1/languages/agent");
  const { error } = (await response.json()) as { error: object };
  expect([response.status, error]).toMatchObject([
    404,
    { code: "NOT_FOUND", message: 'Language "agent" not found. The languages are adl, cdl, wdl, pdl.' },
  ]);
  expect((await api.request("/api/v1/languages?x=1")).status).toBe(400);
});

test("everyone can read the schema of each type, with an ETag", async () => {
  await using api = await openTestApp({ config: { publicUrl: "https://ulr.example" } });
  for (const type of DEFINITION_TYPES) {
    const path = `/schemas/${type}.json`;
    const response = await api.request(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/schema+json"]);
    const etag = response.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+"$/);
    const schema = (await response.json()) as { $id: string };
    expect(schema.$id).toBe(`https://ulr.example${path}`);
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect(validate({ [type]: { interface: { name: "a", version: "1.0.0" } } })).toBe(true);
    expect(validate({ [type]: { interface: { name: "a" } } })).toBe(false);
    const again = await api.request(path, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const compressing = { "accept-encoding": "gzip" };
    const compressed = await api.request(path, { headers: compressing });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    const known = { ...compressing, "if-none-match": compressed.headers.get("etag") ?? "" };
    expect((await api.request(path, { headers: known })).status).toBe(304);
  }
  expect((await api.request("/schemas/robot.json")).status).toBe(404);
  expect((await api.request("/schemas/agent.json?x=1")).status).toBe(400);
});
