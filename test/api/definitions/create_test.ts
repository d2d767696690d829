import { expect, test } from "bun:test";
import { TRANSLATOR_VERSION } from "../../../shared/definitions/translate/translate.ts";
import {
  agentYaml,
  bareYaml,
  createAgent,
  definitionOf,
  errorOf,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp } from "../../helpers/http/app.ts";

test("POST creates a draft from the document and renders it", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = agentYaml("reviewer", "1.2.3", { subdomain: "reviews", tags: "[a, b, a]", author: "Ada" });
  const response = await write(api, "/agent/reviewer", person, {
    body: { yaml, visibility: "unlisted" },
  });
  expect(response.status).toBe(201);
  const { id, hash, runtimeMd, promptHash, createdAt, updatedAt, ...rest } = await definitionOf(response);
  expect([id, hash, promptHash, createdAt, updatedAt]).toEqual([
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    createdAt,
  ]);
  expect(runtimeMd).toStartWith("---\nname: ");
  expect(rest).toEqual({
    type: "agent",
    name: "reviewer",
    version: "1.2.3",
    status: "draft",
    yaml,
    domain: "software",
    subdomain: "reviews",
    agentType: "explorer",
    displayName: "Reviewer",
    description: "Reviews a change and says what to mend before it is merged.",
    author: "Ada",
    authorshipType: null,
    provenance: null,
    tags: ["a", "b"],
    authorId: person.user.id,
    orgId: person.org.id,
    tier: "org",
    visibility: "unlisted",
    translatorVersion: TRANSLATOR_VERSION,
    translationError: null,
    schemaVersion: "1.0",
    executionCount: 0,
    uniqueExecutionCount: 0,
    forkCount: 0,
    starCount: 0,
    forkedFromId: null,
    quarantinedAt: null,
    quarantineReason: null,
    publishedAt: null,
    deprecatedAt: null,
    deprecationReason: null,
    successor: null,
    riskProfile: null,
    namespace: `@${person.org.slug}/reviewer`,
    minSubscription: "free",
    catalogueTier: null,
    releasedAt: null,
  });
  const audited = await api.db.sql`select action, subject_id, org_id, actor_user_id, details from audit_log`;
  expect([...audited]).toEqual([
    {
      action: "definition.create",
      subjectId: id,
      orgId: person.org.id,
      actorUserId: person.user.id,
      details: { type: "agent", name: "reviewer", version: "1.2.3" },
    },
  ]);
});

test("a draft in a personal organization is private with tier user, and reports why its document cannot be rendered", async () => {
  await using api = await openTestApp();
  const { key } = await api.make.person();
  for (const type of ["agent", "command", "workflow", "pipeline"] as const) {
    const response = await write(api, `/${type}/thing`, { key }, { body: { yaml: bareYaml(type, "thing") } });
    expect(response.status).toBe(201);
    expect(await definitionOf(response)).toMatchObject({
      visibility: "private",
      tier: "user",
      displayName: "Thing",
      description: "",
      domain: "general",
      agentType: null,
      runtimeMd: null,
      promptHash: null,
      translatorVersion: null,
      translationError: { reason: "missing_description" },
    });
  }
});

test("POST stores valid provenance and returns its times in the service's format", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const contributor = { id: "c", role: "author", type: "human", name: "Ada" } as const;
  const provenance = {
    authorshipType: "collaborative" as const,
    contributors: [{ ...contributor, contributedAt: "2026-01-01T01:00:00+01:00" }],
    dialecticRounds: 3,
    optimizationRunId: "run-1",
  };
  const made = await createAgent(api, person, { name: "reviewer", provenance });
  expect(made.authorshipType).toBe("collaborative");
  expect(made.provenance).toEqual({
    ...provenance,
    contributors: [{ ...contributor, contributedAt: "2026-01-01T00:00:00.000Z" }],
  });
  const partial = await createAgent(api, person, { name: "partial", provenance: { dialecticRounds: 3 } });
  expect(partial).toMatchObject({ authorshipType: null, provenance: { dialecticRounds: 3 } });
  const wrong: readonly [string, unknown][] = [
    ["provenance", { contributors: [] }],
    ["provenance.authorshipType", { authorshipType: "robot" }],
    ["provenance.contributors", { authorshipType: "human", contributors: [] }],
    ["provenance.contributors", { authorshipType: "human", contributors: Array(51).fill(contributor) }],
    [
      "provenance.contributors.0.role",
      { authorshipType: "human", contributors: [{ ...contributor, role: "x" }] },
    ],
    [
      "provenance.contributors.0.type",
      { authorshipType: "human", contributors: [{ ...contributor, type: "x" }] },
    ],
    [
      "provenance.contributors.0.contributedAt",
      { authorshipType: "human", contributors: [{ ...contributor, contributedAt: "yesterday" }] },
    ],
    ["provenance.dialecticRounds", { authorshipType: "human", dialecticRounds: 1.5 }],
    ["provenance.dialecticRounds", { authorshipType: "human", dialecticRounds: "1" }],
  ];
  for (const [path, refused] of wrong) {
    const body = { yaml: agentYaml("other"), provenance: refused };
    const [status, code, details] = await errorOf(await write(api, "/agent/other", person, { body }));
    expect([path, status, code]).toEqual([path, 400, "VALIDATION_ERROR"]);
    expect(JSON.stringify(details)).toContain(`"path":"${path}`);
  }
});

test("POST rejects an invalid path, body or document, and stores nothing", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const long = agentYaml("reviewer") + "#".repeat(153_600);
  const cases: readonly [path: string, body: unknown, refusal: readonly unknown[]][] = [
    ["/agent/reviewer", {}, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer", { yaml: 7 }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer", { yaml: " \n" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer", { yaml: agentYaml("reviewer"), visibility: "open" }, [400, "VALIDATION_ERROR"]],
    ["/agent/reviewer@1.0.0", { yaml: agentYaml("reviewer") }, [400, "VALIDATION_ERROR"]],
    ["/agent/Reviewer", { yaml: agentYaml("reviewer") }, [400, "VALIDATION_ERROR"]],
    ["/robot/reviewer", { yaml: agentYaml("reviewer") }, [400, "VALIDATION_ERROR"]],
    [
      "/agent/reviewer",
      { yaml: agentYaml("reviewer"), provenance: { authorshipType: "human", optimizationRunId: "a\0b" } },
      [400, "VALIDATION_ERROR"],
    ],
    [
      "/agent/reviewer",
      { yaml: agentYaml("reviewer"), provenance: { authorshipType: "human", optimizationRunId: "\ud800" } },
      [400, "VALIDATION_ERROR"],
    ],
    ["/agent/reviewer", { yaml: long }, [413, "PAYLOAD_TOO_LARGE"]],
    ["/agent/reviewer", { yaml: "agent: [" }, [422, "UNPROCESSABLE_ENTITY"]],
    ["/agent/reviewer", { yaml: `${agentYaml("reviewer")}# \0` }, [422, "UNPROCESSABLE_ENTITY"]],
    ["/agent/reviewer", { yaml: `${agentYaml("reviewer")}# \ud800` }, [422, "UNPROCESSABLE_ENTITY"]],
    ["/agent/reviewer", { yaml: bareYaml("command", "reviewer") }, [422, "UNPROCESSABLE_ENTITY"]],
    ["/agent/reviewer", { yaml: agentYaml("other") }, [422, "NAME_MISMATCH"]],
  ];
  for (const [path, body, refusal] of cases) {
    const response = await write(api, path, person, { body });
    expect([path, body, ...(await errorOf(response)).slice(0, 2)]).toEqual([path, body, ...refusal]);
  }
  expect(await errorOf(await write(api, "/agent/reviewer", person, { body: { yaml: long } }))).toEqual([
    413,
    "PAYLOAD_TOO_LARGE",
    { maxSize: 153_600 },
  ]);
  const unquoted = agentYaml("reviewer").replace('"1.0.0"', "1.0");
  const [, , details] = await errorOf(
    await write(api, "/agent/reviewer", person, { body: { yaml: unquoted } }),
  );
  expect(details).toEqual({
    errors: [
      {
        path: "agent.interface.version",
        line: 4,
        column: expect.any(Number),
        message: expect.stringContaining("quote it"),
      },
    ],
  });
  const [count] = await api.db.sql`select count(*) as lines from definition_lines`;
  expect(count).toEqual({ lines: 0 });
});

test("an unknown field is refused regardless of its value, and nothing is stored", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = agentYaml("reviewer");
  const deep = JSON.parse("[".repeat(60) + "]".repeat(60)) as unknown;
  for (const unknown of [1, "a\u0000b", deep]) {
    const body = { yaml, visibilty: unknown };
    const message = 'is not a known field. Did you mean "visibility"?';
    expect(await errorOf(await write(api, "/agent/reviewer", person, { body }))).toEqual([
      ...[400, "VALIDATION_ERROR", { errors: [{ path: "visibilty", message }] }],
    ]);
  }
  const [count] = await api.db.sql`select count(*) as lines from definition_lines`;
  expect(count).toEqual({ lines: 0 });
});

test("POST accepts a document of 153,600 bytes, but not one byte more", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const head = `${agentYaml("reviewer")}# `;
  const yaml = head + "é".repeat((153_600 - head.length) / 2).padEnd(153_600 - head.length, "x");
  const exact = yaml.slice(0, yaml.length - (Buffer.byteLength(yaml) - 153_600));
  expect(Buffer.byteLength(exact)).toBe(153_600);
  const post = (text: string) => write(api, "/agent/reviewer", person, { body: { yaml: text } });
  expect((await post(`${exact}x`)).status).toBe(413);
  expect((await post(exact)).status).toBe(201);
});

test("POST refuses an existing version, even in concurrent requests, and suggests the next free version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const version of ["1.0.0", "1.0.4", "1.1.0"])
    await createAgent(api, person, { name: "reviewer", version });
  const post = () => write(api, "/agent/reviewer", person, { body: { yaml: agentYaml("reviewer") } });
  const existing = await post();
  expect(await existing.clone().json()).toMatchObject({
    error: {
      message:
        `Organization "${person.org.slug}" already has agent "reviewer@1.0.0". Use another version. ` +
        "Set X-Org-Slug to use another organization.",
    },
  });
  expect(await errorOf(existing)).toEqual([409, "VERSION_EXISTS", { nextAvailable: "1.0.5" }]);
  const racing = await Promise.all(
    Array.from({ length: 8 }, () =>
      write(api, "/agent/racer", person, { body: { yaml: agentYaml("racer") } }),
    ),
  );
  expect(racing.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
});

test("POST derives the change type from the previous version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const version of ["1.0.0", "1.2.0", "1.2.1", "3.0.0", "1.1.0", "0.1.0"]) {
    await createAgent(api, person, { name: "reviewer", version });
  }
  const rows = await api.db.sql<{ version: string; changeType: string }[]>`
      select version, change_type from definitions order by created_at, id`;
  expect(Object.fromEntries(rows.map(({ version, changeType }) => [version, changeType]))).toEqual({
    "1.0.0": "major",
    "1.2.0": "minor",
    "1.2.1": "patch",
    "3.0.0": "major",
    "1.1.0": "minor",
    "0.1.0": "major",
  });
});
