import { expect, test } from "bun:test";
import {
  agentNeeding,
  agentYaml,
  ask,
  type Caller,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp, type TestRequest } from "../../../../helpers/http/app.ts";
import { waitFor } from "../../../../helpers/wait_for.ts";

const YAML = { headers: { "content-type": "application/yaml" } };

interface Stored {
  index: number;
  name: string;
  version: string;
  status: string;
  warnings: unknown[];
}

async function submit(api: TestApp, caller: Caller, options: TestRequest, query = ""): Promise<Stored[]> {
  const response = await write(api, `/batch${query}`, caller, options);
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: { definitions: Stored[] } }).data.definitions;
}

async function listActions({ db }: TestApp): Promise<string[]> {
  const rows = await db.sql<{ entry: string }[]>`
    select action || ' ' || (details ->> 'name') as entry from audit_log order by id`;
  return rows.map(({ entry }) => entry);
}

test("dependencies are published first, even if they come last in the batch", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const documents = [
    agentNeeding("top", ["middle@^1.0.0", "base@latest"]),
    agentNeeding("middle", [`@${person.org.slug}/base@1.0.0`]),
    agentYaml("base"),
  ];
  const body = { definitions: documents.map((yaml) => ({ yaml })), publish: true, visibility: "public" };
  const stored = await submit(api, person, { body });
  expect(stored.map(({ index, name, status, warnings }) => [index, name, status, warnings])).toEqual([
    [0, "top", "published", []],
    [1, "middle", "published", []],
    [2, "base", "published", []],
  ]);
  expect((await listActions(api)).filter((entry) => entry.startsWith("definition.publish"))).toEqual([
    "definition.publish base",
    "definition.publish middle",
    "definition.publish top",
  ]);
  const response = await ask(api, "/agent/top/dependencies", null);
  const { data } = (await response.json()) as { data: { flat: { name: string }[]; unresolved: unknown[] } };
  expect([data.flat.map(({ name }) => name).sort(), data.unresolved]).toEqual([["base", "middle"], []]);
});

test("references between drafts of a batch are resolved and cause no warnings", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const stream = [agentNeeding("top", ["base@^1.0.0", "gone@latest"]), agentYaml("base")].join("---\n");
  const [top, base] = await submit(api, person, { ...YAML, body: stream });
  expect([top?.status, base?.status, base?.warnings]).toEqual(["draft", "draft", []]);
  expect(top?.warnings).toMatchObject([{ code: "UNRESOLVED_REFERENCE", details: { name: "gone" } }]);
});

test("documents of a batch that form a dependency cycle are refused, even as drafts", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const stream = [agentNeeding("a", ["b@^1.0.0"]), agentNeeding("b", ["a@^1.0.0"])].join("---\n");
  for (const query of ["", "?publish=true"]) {
    const response = await write(api, `/batch${query}`, person, { ...YAML, body: stream });
    expect((await errorOf(response)).slice(0, 2)).toEqual([422, "DEPENDENCY_CYCLE"]);
  }
  expect(await listActions(api)).toEqual([]);
  await publishAgent(api, person, { name: "a", yaml: agentNeeding("a", ["c@latest"]) });
  const closing = await write(api, "/batch?publish=true", person, {
    ...YAML,
    body: agentNeeding("c", ["a@latest"]),
  });
  expect((await errorOf(closing)).slice(0, 2)).toEqual([422, "DEPENDENCY_CYCLE"]);
});

test("one invalid document fails the whole batch, and each problem has a document index and a stream line", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "taken" });
  const stream = [
    agentYaml("fine"),
    agentYaml("taken"),
    agentYaml("numbered").replace('"1.0.0"', "1.0"),
    "agent: {}\n",
  ].join("---\n");
  const response = await write(api, "/batch", person, { ...YAML, body: stream });
  const refused = await errorOf(response);
  expect(JSON.stringify(refused)).not.toContain('"details":{}');
  expect(refused).toMatchObject([
    409,
    "VERSION_EXISTS",
    {
      errors: [
        { index: 1, code: "VERSION_EXISTS", details: { nextAvailable: "1.0.1" } },
        { index: 2, code: "UNPROCESSABLE_ENTITY", path: "agent.interface.version", line: 26, column: 14 },
        { index: 3, code: "UNPROCESSABLE_ENTITY", path: "agent.interface", line: 34 },
      ],
    },
  ]);
  const taken = await write(api, "/batch", person, {
    body: { definitions: [{ yaml: agentYaml("fine") }, { yaml: agentYaml("taken") }] },
  });
  expect(await errorOf(taken)).toMatchObject([
    409,
    "VERSION_EXISTS",
    { nextAvailable: "1.0.1", errors: [{ index: 1, type: "agent", name: "taken", code: "VERSION_EXISTS" }] },
  ]);
  expect(await listActions(api)).toEqual(["definition.create taken"]);
});

test("a duplicate document in a batch is refused, and the error gives the index of the first copy", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "twice", version: "1.0.1" });
  const yaml = agentYaml("twice");
  const body = { definitions: [{ yaml }, { yaml: agentYaml("other") }, { yaml }] };
  const response = await write(api, "/batch", person, { body });
  expect(await response.clone().json()).toMatchObject({
    error: {
      message:
        'Nothing was stored. Document 2: It is agent "twice@1.0.0", as is document 0 of this batch. Remove one of them, or use another version.',
    },
  });
  expect(await errorOf(response)).toMatchObject([
    409,
    "VERSION_EXISTS",
    { nextAvailable: "1.0.2", errors: [{ index: 2 }] },
  ]);
  const tried = await write(api, "/batch", person, { body: { ...body, validate: true } });
  const errors = [{ code: "VERSION_EXISTS", details: { nextAvailable: "1.0.2" } }];
  expect(await tried.json()).toMatchObject({
    data: { definitions: [{ valid: true }, { valid: true }, { valid: false, errors }] },
  });
});

test("a batch with validate=true reports on each document and stores nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "base", version: "1.0.0" });
  const stream = [agentNeeding("top", ["base@^2.0.0"]), agentYaml("base", "2.0.0"), "agent: 1\n"].join(
    "---\n",
  );
  const before = await listActions(api);
  const response = await write(api, "/batch?validate=true&publish=true", person, { ...YAML, body: stream });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    data: {
      valid: false,
      definitions: [
        { index: 0, type: "agent", name: "top", valid: true, references: [{ resolvedVersion: "2.0.0" }] },
        { index: 1, name: "base", valid: true, diff: { against: "1.0.0" } },
        { index: 2, type: null, name: null, valid: false, errors: [{ line: 24 }] },
      ],
    },
  });
  expect(await listActions(api)).toEqual(before);
});

test("a body with no documents, too many documents, or both definitions and yaml is refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const many = Array.from({ length: 201 }, (_, n) => agentYaml(`a${n}`));
  const bodies: TestRequest[] = [
    { body: {} },
    { body: { definitions: [] } },
    { body: { definitions: [{ yaml: agentYaml("a") }], yaml: agentYaml("b") } },
    { body: { definitions: many.map((yaml) => ({ yaml })) } },
    { ...YAML, body: many.join("---\n") },
    { ...YAML, body: "---\n---\n# nothing\n" },
    { ...YAML, body: "\n" },
  ];
  for (const options of bodies) {
    const response = await write(api, "/batch", person, options);
    expect((await errorOf(response)).slice(0, 2)).toEqual([400, "VALIDATION_ERROR"]);
  }
  const large = { ...YAML, body: `# ${"x".repeat(1_048_576)}` };
  expect((await write(api, "/batch", person, large)).status).toBe(413);
  expect(await listActions(api)).toEqual([]);
});

test("the quota of drafts is checked once for the whole batch", async () => {
  await using api = await openTestApp();
  const person = await api.make.person({ tier: "free" });
  const stream = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => agentYaml(`agent-${from + n}`)).join("---\n");
  await submit(api, person, { ...YAML, body: stream(0, 60) });
  const over = await write(api, "/batch", person, { ...YAML, body: stream(60, 41) });
  expect(await errorOf(over)).toEqual([409, "QUOTA_EXCEEDED", { quota: "drafts", limit: 100 }]);
  expect(await submit(api, person, { ...YAML, body: stream(60, 40) })).toHaveLength(40);
});

test("concurrent batches and single requests that create the same names store each version once", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const person = await api.make.person();
  const names = Array.from({ length: 12 }, (_, n) => `agent-${n}`);
  const batch = (order: readonly string[]) =>
    write(api, "/batch?publish=true", person, {
      ...YAML,
      body: order.map((name) => agentYaml(name)).join("---\n"),
    });
  const responses = await Promise.all([
    batch(names),
    batch(names.toReversed()),
    ...names.map((name) => write(api, `/agent/${name}`, person, { body: { yaml: agentYaml(name) } })),
  ]);
  const statuses = responses.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201, 409]));
  const [row] = await api.db.sql<[{ rows: number; entries: number }]>`
    select
      (select count(*) from definitions) as rows,
      (select count(*) from audit_log where action = 'definition.create') as entries`;
  expect(row).toEqual({ rows: 12, entries: 12 });
});

test("a chain of 200 documents can be published in one request, and its dependencies can be read", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const names = Array.from({ length: 200 }, (_, n) => `link-${n}`);
  const stream = names.map((name, n) => agentNeeding(name, n === 0 ? [] : [`link-${n - 1}@^1.0.0`]));
  const body = stream.toReversed().join("---\n");
  const stored = await submit(api, person, { ...YAML, body }, "?publish=true");
  expect(stored.filter(({ status, warnings }) => status !== "published" || warnings.length > 0)).toEqual([]);
  const response = await ask(api, "/agent/link-40/dependencies", person);
  expect(await response.json()).toMatchObject({ data: { totalCount: 40, unresolved: [] } });
  // The cycle search is limited to one second and reads one link per step. A busy machine may need longer for the chain, so the
  // test retries after a 503.
  const back = agentNeeding("link-160", ["link-199@^1.0.0"], "1.0.1");
  const closed = await waitFor(async () => {
    const response = await write(api, "/batch?publish=true", person, { ...YAML, body: back });
    return response.status === 503 ? null : response;
  });
  expect((await errorOf(closed)).slice(0, 2)).toEqual([422, "DEPENDENCY_CYCLE"]);
});
