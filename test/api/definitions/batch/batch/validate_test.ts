import { expect, test } from "bun:test";
import { lockTransaction } from "../../../../../sql/locks.ts";
import {
  agentNeeding,
  agentYaml,
  ask,
  bareYaml,
  type Caller,
  createAgent,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";
import { loadBundledCatalog } from "../../../../helpers/models/catalog.ts";
import { commitDuring } from "../../../../helpers/postgres/waiting_sessions.ts";

async function validate(api: TestApp, caller: Caller, body: object) {
  const response = await write(api, "/validate", caller, { body: { type: "agent", ...body } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

test("a validation reports everything that storing the document would report, and stores nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "base", version: "1.2.0" });
  const counted = await countRows(api);
  const yaml = agentNeeding("reviewer", ["base@^1.0.0", "gone@^1.0.0"]);
  const { runtimeMd, riskProfile, ...report } = await validate(api, person, { yaml, publish: true });
  expect(report).toEqual({
    valid: true,
    errors: [],
    warnings: [
      {
        code: "UNRESOLVED_REFERENCE",
        message: 'No published agent matches the reference "gone@^1.0.0".',
        details: { type: "agent", name: "gone", range: "^1.0.0" },
        path: "agent.interface.dependencies.requires[1]",
        line: 9,
        column: 47,
      },
    ],
    references: [
      {
        type: "agent",
        name: "base",
        range: "^1.0.0",
        resolvedVersion: "1.2.0",
        organization: person.org.slug,
      },
      { type: "agent", name: "gone", range: "^1.0.0", resolvedVersion: null, organization: null },
    ],
    version: { given: "1.0.0", exists: false, nextAvailable: "1.0.0" },
    diff: null,
    breaks: [],
  });
  expect(runtimeMd).toStartWith('---\nname: "reviewer"');
  expect(riskProfile).toMatchObject({ aggregateRiskLevel: "none", deep: null });
  expect(await countRows(api)).toEqual(counted);
  expect((await ask(api, "/agent/reviewer@1.0.0", person)).status).toBe(404);
});

async function countRows({ db }: TestApp) {
  const [row] = await db.sql`
    select
      (select count(*) from definitions) as definitions, (select count(*) from definition_lines) as lines,
      (select count(*) from definition_references) as refs, (select count(*) from audit_log) as audited`;
  return row;
}

test("a validation reports no diff if the stored previous version is no longer valid", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { id, yaml: stored } = await createAgent(api, person, { name: "reviewer" });
  const merged = `base: &b { a: 1 }\n${stored}  extra:\n    <<: *b\n`;
  await api.db.sql`update definitions set yaml = ${merged} where id = ${id}`;
  const yaml = agentYaml("reviewer", "1.1.0");
  expect(await validate(api, person, { yaml })).toMatchObject({ valid: true, diff: null });
  const body = { definitions: [{ yaml }], validate: true };
  const batch = await write(api, "/batch", person, { body });
  expect(batch.status).toBe(200);
  const report = { valid: true, definitions: [{ valid: true, diff: null }] };
  expect(await batch.json()).toMatchObject({ data: report });
});

test("a validation does not take the publication lock", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "base", version: "1.2.0" });
  const yaml = agentNeeding("reviewer", ["base@^1.0.0"]);
  await api.db.owner.begin(async (tx) => {
    await lockTransaction(tx, "dependencyGraph");
    expect(await validate(api, person, { yaml, publish: true })).toMatchObject({ valid: true, warnings: [] });
  });
});

test("read keys and viewers may validate; strangers get 403 and anonymous callers get 401", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const viewer = await api.make.person({ org: owner.org, role: "viewer" });
  const body = { type: "agent", yaml: agentYaml("reviewer") };
  const post = (caller: Caller) => write(api, "/validate", caller, { body });
  const { key } = await api.make.key({ userId: owner.user.id, kind: "user", scope: "read" });
  expect((await post({ key, org: owner.org })).status).toBe(200);
  expect((await post({ key: viewer.key, org: owner.org })).status).toBe(200);
  const stranger = await api.make.person();
  expect((await post({ key: stranger.key, org: owner.org })).status).toBe(403);
  expect((await ask(api, "/validate", null, { method: "POST", body })).status).toBe(401);
});

test("a version that already exists is an error, and the report still covers the rest of the document", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", version: "1.0.0" });
  await createAgent(api, person, { name: "reviewer", version: "1.0.1" });
  const yaml = agentYaml("reviewer", "1.0.0", { description: "Something else altogether, and more of it." });
  const report = await validate(api, person, { yaml, publish: true });
  expect(report).toMatchObject({
    valid: false,
    errors: [
      {
        code: "VERSION_EXISTS",
        message: expect.stringContaining('already has agent "reviewer@1.0.0". Use another version.'),
        details: { nextAvailable: "1.0.2" },
      },
    ],
    version: { given: "1.0.0", exists: true, nextAvailable: "1.0.2" },
    diff: {
      against: "1.0.0",
      isPublished: true,
      suggestedBump: "patch",
      classified: [{ path: "agent.interface.description", type: "modified" }],
    },
  });
  expect(report["runtimeMd"]).toStartWith("---");
});

test("a report accounts for a version that another request publishes concurrently", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", version: "1.0.0" });
  const columns = { name: "reviewer", version: "1.1.0", status: "published" } as const;
  const report = await commitDuring(
    api.db,
    (tx) => makeDefinition(tx, person, columns),
    () => validate(api, person, { yaml: agentYaml("reviewer", "1.1.0"), publish: true }),
  );
  expect(report).toMatchObject({
    errors: [{ code: "VERSION_EXISTS", details: { nextAvailable: "1.1.1" } }],
    version: { given: "1.1.0", exists: true, nextAvailable: "1.1.1" },
    diff: { against: "1.1.0", isPublished: true },
  });
});

test("YAML problems have a line and a column", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const broken = await validate(api, person, { yaml: 'agent:\n  interface:\n    name: "a' });
  expect(broken).toMatchObject({ valid: false, runtimeMd: null, diff: null });
  expect(broken["errors"]).toMatchObject([{ code: "UNPROCESSABLE_ENTITY", path: "yaml", line: 3 }]);
  const numbered = await validate(api, person, { yaml: agentYaml("a").replace('"1.0.0"', "1.0") });
  expect(numbered["errors"]).toMatchObject([
    { code: "UNPROCESSABLE_ENTITY", path: "agent.interface.version", line: 4, column: 14 },
  ]);
  const named = await validate(api, person, { yaml: agentYaml("a"), name: "b" });
  expect(named["errors"]).toMatchObject([
    { code: "NAME_MISMATCH", path: "agent.interface.name", line: 3, column: 11 },
  ]);
  expect(await validate(api, person, { yaml: " " })).toMatchObject({
    errors: [{ code: "VALIDATION_ERROR", path: "yaml" }],
  });
  expect(await validate(api, person, { yaml: `# ${"x".repeat(153_600)}` })).toMatchObject({
    errors: [{ code: "PAYLOAD_TOO_LARGE", details: { maxSize: 153_600 } }],
  });
  const workflow = await validate(api, person, { yaml: bareYaml("workflow", "a") });
  expect(workflow["errors"]).toMatchObject([
    { code: "UNPROCESSABLE_ENTITY", path: "workflow", line: 1, column: 1 },
  ]);
});

test("validating and publishing warn about unknown models and tools, with a line and a suggestion", async () => {
  await using api = await openTestApp();
  await loadBundledCatalog(api.db.sql);
  const person = await api.make.person();
  const yaml = `${agentYaml("reviewer", "1.0.0", { tools: "[Reed, Bash]" })}  defaults:\n    model: gpt-5-mni\n`;
  const expected = [
    {
      code: "UNKNOWN_MODEL",
      message: 'The model catalog has no "gpt-5-mni". Did you mean "gpt-5-mini"?',
      details: { model: "gpt-5-mni", suggestion: "gpt-5-mini" },
      path: "agent.defaults.model",
      line: 13,
      column: 12,
    },
    {
      code: "UNKNOWN_TOOL",
      message: '"Reed" is not a tool of definitions. Did you mean "Read"?',
      details: { tool: "Reed", suggestion: "Read" },
      path: "agent.interface.tools[0]",
      line: 9,
      column: 13,
    },
  ];
  const report = await validate(api, person, { yaml });
  expect(report).toMatchObject({ valid: true, warnings: expected });
  await createAgent(api, person, { name: "reviewer", yaml });
  const published = await write(api, "/agent/reviewer@1.0.0/publish", person);
  expect(((await published.json()) as { warnings: unknown }).warnings).toEqual(expected);
  for (const model of ["sonnet", "opus-4.5", "gpt-5", "openai/gpt-5", "inherit"]) {
    const known = `${agentYaml("reviewer")}  defaults:\n    model: ${model}\n`;
    expect(await validate(api, person, { yaml: known })).toMatchObject({ warnings: [] });
  }
});

test("unknown keys, unexpected values and missing fields cause warnings with line numbers", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = [
    "agent:",
    "  interface: {name: gate, version: 1.0.0, agentType: validator, descripton: Judges changes.}",
    "  rollback: {enabled: no}",
  ].join("\n");
  const expected = [
    { code: "TRANSLATION_FAILED", path: "agent.interface.description", line: 2 },
    { code: "TRANSLATION_FAILED", path: "agent.scoring", line: 2 },
    { code: "TRANSLATION_FAILED", path: "agent.decisions", line: 2 },
    {
      code: "UNKNOWN_KEY",
      path: "agent.interface.descripton",
      line: 2,
      details: { suggestion: "description" },
    },
    { code: "UNEXPECTED_VALUE", path: "agent.rollback.enabled", line: 3, details: { suggestion: "false" } },
  ];
  const report = await validate(api, person, { yaml });
  expect(report).toMatchObject({ valid: true, errors: [], warnings: expected });
  await createAgent(api, person, { name: "gate", yaml });
  const published = await write(api, "/agent/gate@1.0.0/publish", person);
  expect(await published.json()).toMatchObject({ warnings: expected });
  const fork = await write(api, "/agent/gate/fork", person, { body: { name: "gate-two" } });
  expect(await fork.json()).toMatchObject({ data: { warnings: expected } });
});

test("a dependency cycle is an error only in a validation with publish=true", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "a", yaml: agentNeeding("a", ["b@^1.0.0"]) });
  const yaml = agentNeeding("b", ["a@^1.0.0"]);
  expect(await validate(api, person, { yaml })).toMatchObject({ valid: true, errors: [] });
  expect(await validate(api, person, { yaml, publish: true })).toMatchObject({
    valid: false,
    errors: [
      {
        code: "DEPENDENCY_CYCLE",
        details: { cycle: ["agent b@1.0.0", "agent a@1.0.0", "agent b@1.0.0"] },
      },
    ],
  });
});

test("the breaks field lists published dependents whose range accepts the previous version but not the new one", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const other = await api.make.person();
  await publishAgent(api, person, { name: "base", version: "1.0.0", visibility: "public" });
  await publishAgent(api, person, { name: "tight", yaml: agentNeeding("tight", ["base@^1.0.0"]) });
  await publishAgent(api, person, { name: "loose", yaml: agentNeeding("loose", ["base@>=1.0.0"]) });
  await createAgent(api, person, { name: "draft", yaml: agentNeeding("draft", ["base@^1.0.0"]) });
  const hidden = agentNeeding("hidden", [`@${person.org.slug}/base@^1.0.0`]);
  await publishAgent(api, other, { name: "hidden", yaml: hidden });
  const open = agentNeeding("open", [`@${person.org.slug}/base@~1.0.0`]);
  await publishAgent(api, other, { name: "open", yaml: open, visibility: "public" });
  const report = await validate(api, person, { yaml: agentYaml("base", "2.0.0") });
  expect(report["breaks"]).toEqual([
    { organization: other.org.slug, type: "agent", name: "open", version: "1.0.0", range: "~1.0.0" },
    { organization: person.org.slug, type: "agent", name: "tight", version: "1.0.0", range: "^1.0.0" },
  ]);
  expect(await validate(api, person, { yaml: agentYaml("base", "1.0.1") })).toMatchObject({ breaks: [] });
});

test("a validation accepts the YAML document as its body, with the other fields as query parameters", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const headers = { "content-type": "application/yaml" };
  const post = (query: string, body: string) => write(api, `/validate${query}`, person, { headers, body });
  const response = await post("?type=agent&name=reviewer&publish=true", agentYaml("reviewer"));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: { valid: true, version: { given: "1.0.0" } } });
  expect((await post("", agentYaml("reviewer"))).status).toBe(400);
  for (const type of ["robot", "Agent", ""]) {
    expect((await post(`?type=${type}`, agentYaml("reviewer"))).status).toBe(400);
    const body = { type, yaml: agentYaml("reviewer") };
    expect((await errorOf(await write(api, "/validate", person, { body }))).slice(0, 2)).toEqual([
      ...[400, "VALIDATION_ERROR"],
    ]);
  }
  expect((await post("?type=agent&visible=true", agentYaml("reviewer"))).status).toBe(400);
  expect((await post("?type=agent", "")).status).toBe(400);
  expect((await post("?type=agent&name=No_name", agentYaml("reviewer"))).status).toBe(400);
});
