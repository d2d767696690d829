import { expect, test } from "bun:test";
import type { DefinitionStatus, DefinitionVisibility } from "../../../../shared/vocabulary.ts";
import { MAX_REFERENCED_RANGES } from "../../../../sql/definitions/dependents.ts";
import {
  agentNeeding,
  ask,
  type Caller,
  createAgent,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";

/** Returns a caller who selects the shared organization instead of the personal one. */
function own({ key, org }: Person): Caller {
  return { key, org };
}

interface Dependents {
  definition: Named;
  dependents: (Named & { context: string; range: string })[];
  totalCount: number;
  truncated: boolean;
}

interface Named {
  id: string;
  organization: string;
  type: string;
  name: string;
  version: string;
}

/** Returns each dependent with the context and range of its reference. */
function mentions({ dependents }: Dependents): string[][] {
  return dependents.map(({ organization, type, name, version, context, range }) => [
    `${type} @${organization}/${name}@${version}`,
    context,
    range,
  ]);
}

async function dependentsOf(api: TestApp, path: string, caller: Caller | null = null): Promise<Dependents> {
  const response = await ask(api, `${path}/dependents`, caller);
  const { data } = (await response.json()) as { data?: Dependents };
  if (!data) throw new Error(`Cannot read dependents: ${response.status}`);
  return data;
}

async function dependentNames(api: TestApp, path: string, caller: Caller | null = null): Promise<string[]> {
  const { dependents, totalCount } = await dependentsOf(api, path, caller);
  expect(totalCount).toBe(dependents.length);
  return dependents.map(({ name, version }) => `${name}@${version}`);
}

/** Adds a dependency on an agent to a version, in SQL. */
async function makeReference(api: TestApp, definitionId: string, name: string, range = "latest") {
  await api.db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    values (${definitionId}, 0, 'agent', ${name}, ${range}, 'dependencies.requires', true)`;
}

test("dependents are the versions with a direct dependency on the definition", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const publish = (name: string, requires: readonly string[], version = "1.0.0") =>
    publishAgent(api, person, {
      name,
      version,
      yaml: agentNeeding(name, requires, version),
      visibility: "public",
    });
  const helper = await publish("helper", []);
  await publish("pinned", ["helper@1.0.0"]);
  await publish("loose", ["helper@^1.0.0"]);
  await publish("loose", ["helper@^1.0.0", "helper@latest"], "1.10.0");
  await publish("loose", ["helper"], "1.9.0");
  await publish("indirect", ["pinned"]);
  await publish("stuck", ["helper@^7.0.0"]);
  const { slug } = person.org;
  const found = await dependentsOf(api, "/agent/helper");
  expect(mentions(found)).toEqual([
    [`agent @${slug}/loose@1.10.0`, "dependencies.requires", "^1.0.0"],
    [`agent @${slug}/loose@1.9.0`, "dependencies.requires", "latest"],
    [`agent @${slug}/loose@1.0.0`, "dependencies.requires", "^1.0.0"],
    [`agent @${slug}/pinned@1.0.0`, "dependencies.requires", "1.0.0"],
  ]);
  expect(found).toMatchObject({ totalCount: 4, truncated: false });
  expect(found.definition).toEqual({
    id: helper.id,
    organization: slug,
    type: "agent",
    name: "helper",
    version: "1.0.0",
  });
  const first = found.dependents[0];
  const byId = await dependentsOf(api, `/agent/${first?.id}`);
  expect(byId.definition).toMatchObject({ id: first?.id, name: "loose", version: "1.10.0" });
  await publish("helper", [], "1.2.0");
  const loose = ["loose@1.10.0", "loose@1.9.0", "loose@1.0.0"];
  expect(await dependentNames(api, "/agent/helper@1.2.0")).toEqual(loose);
  expect(await dependentNames(api, "/agent/helper@1.0.0")).toEqual(["pinned@1.0.0"]);
  // A path without a version returns the dependents of all versions.
  expect(await dependentNames(api, "/agent/helper")).toEqual([...loose, "pinned@1.0.0"]);
  expect(await dependentNames(api, `/agent/@${slug}/helper`)).toEqual([...loose, "pinned@1.0.0"]);
  expect(await dependentNames(api, "/agent/pinned")).toEqual(["indirect@1.0.0"]);
  expect(await dependentNames(api, "/agent/stuck")).toEqual([]);
});

test("a document with several references counts as one dependent, and a pipeline trigger does not count", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const publish = async (type: string, name: string, body: readonly string[]) => {
    const head = `${type}:\n  interface: { name: ${name}, version: 1.0.0, description: For a test. }`;
    const yaml = [head, ...body, ""].join("\n");
    await write(api, `/${type}/${name}`, person, { body: { yaml, visibility: "public" } });
    expect((await write(api, `/${type}/${name}@1.0.0/publish`, person)).status).toBe(200);
  };
  await publishAgent(api, person, { name: "helper", visibility: "public" });
  await publish("workflow", "checks", [
    "  orchestration:",
    "    phases:",
    "      - { id: first, steps: [{ agent: helper@1.0.0 }] }",
    "      - { id: second, steps: [{ agent: helper@latest }] }",
  ]);
  await publish("pipeline", "release", ["  stages: [{ id: only, workflows: [{ ref: checks }] }]"]);
  await publish("pipeline", "nightly", [
    "  triggers: [{ type: pipeline, pipeline: release }]",
    "  stages: [{ id: only, steps: [{ name: x, command: make }] }]",
  ]);
  const { slug } = person.org;
  expect(mentions(await dependentsOf(api, "/agent/helper"))).toEqual([
    [`workflow @${slug}/checks@1.0.0`, "phase first", "1.0.0"],
  ]);
  expect(mentions(await dependentsOf(api, "/workflow/checks"))).toEqual([
    [`pipeline @${slug}/release@1.0.0`, "stage only", "latest"],
  ]);
  expect(await dependentNames(api, "/pipeline/release")).toEqual([]);
});

test("dependents exclude definitions that the caller would not find in a list", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const stranger = await api.make.person();
  await makeDefinition(api.db.sql, owner, { name: "helper", status: "published", visibility: "public" });
  const kinds: readonly [DefinitionStatus, DefinitionVisibility][] = [
    ["archived", "public"],
    ["deprecated", "public"],
    ["draft", "public"],
    ["published", "private"],
    ["published", "public"],
    ["published", "unlisted"],
  ];
  for (const [status, visibility] of kinds) {
    const made = await makeDefinition(api.db.sql, owner, {
      name: `${status}-${visibility}`,
      status,
      visibility,
    });
    await makeReference(api, made.id, "helper");
  }
  const open = ["deprecated-public@1.0.0", "published-public@1.0.0"];
  const own = kinds
    .filter(([status]) => status !== "archived")
    .map(([status, visibility]) => `${status}-${visibility}@1.0.0`);
  expect(await dependentNames(api, "/agent/helper")).toEqual(open);
  expect(await dependentNames(api, "/agent/helper", { key: stranger.key })).toEqual(open);
  expect(await dependentNames(api, "/agent/helper", { key: owner.key })).toEqual(own);
  const bound = await api.make.key({ userId: owner.user.id, orgId: owner.personalOrg.id });
  expect(await dependentNames(api, "/agent/helper", bound)).toEqual(open);
});

test("dependents of a line are the versions bound to that line, not to another line of the same name", async () => {
  await using api = await openTestApp();
  const [first, second, third] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  for (const owner of [first, second])
    await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  const users = {
    "of-first": [first, "helper"],
    "of-second": [second, "helper"],
    "of-third": [third, "helper"],
  } as const;
  for (const [name, [owner, reference]] of Object.entries(users)) {
    await publishAgent(api, own(owner), {
      name,
      yaml: agentNeeding(name, [reference]),
      visibility: "public",
    });
  }
  const name = "in-full";
  const yaml = agentNeeding(name, [`@${second.org.slug}/helper@^1.0.0`]);
  await publishAgent(api, own(third), { name, yaml, visibility: "public" });
  await createAgent(api, own(second), { name: "a-draft", yaml: agentNeeding("a-draft", ["helper"]) });
  expect(await dependentNames(api, "/agent/helper")).toEqual(["of-first@1.0.0", "of-third@1.0.0"]);
  expect(await dependentNames(api, "/agent/helper", own(second))).toEqual([
    "a-draft@1.0.0",
    "in-full@1.0.0",
    "of-second@1.0.0",
  ]);
  const asThird = { key: third.key, org: second.org };
  await api.make.member({ orgId: second.org.id, userId: third.user.id, role: "viewer" });
  // A new line in the third organization does not change resolved references.
  await publishAgent(api, own(third), { name: "helper", visibility: "public" });
  expect(await dependentNames(api, "/agent/helper", own(third))).toEqual([]);
  expect((await dependentNames(api, "/agent/helper", asThird)).slice(1)).toEqual([
    "in-full@1.0.0",
    "of-second@1.0.0",
  ]);
});

test("requests for the dependents or dependencies of an unknown definition return an error", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "helper", visibility: "public" });
  for (const part of ["dependencies", "dependents"]) {
    for (const [path, status, code, reason] of [
      ["/agent/nobody", 404, "NOT_FOUND", "definition"],
      ["/agent/helper@2.0.0", 404, "NOT_FOUND", "version"],
      ["/agent/Helper", 400, "VALIDATION_ERROR", undefined],
      ["/robot/helper", 400, "VALIDATION_ERROR", undefined],
    ] as const) {
      const response = await ask(api, `${path}/${part}`, null);
      const [found, foundCode, details] = await errorOf(response);
      expect([path, part, found, foundCode, (details as { reason?: string }).reason]).toEqual([
        path,
        part,
        status,
        code,
        reason,
      ]);
    }
    const response = await ask(api, `/agent/helper/${part}`, {
      key: person.key,
      org: { slug: "elsewhere" },
    });
    expect((await errorOf(response)).slice(0, 2)).toEqual([403, "ORG_ACCESS_DENIED"]);
  }
});

test("a document with thousands of ranges does not hide other dependents, and a stranger's draft is not counted", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const flooder = await api.make.person();
  const users = [await api.make.person(), await api.make.person()];
  await makeDefinition(api.db.sql, owner, { name: "helper", status: "published", visibility: "public" });
  for (const user of users) {
    const open = { name: "helped", status: "published", visibility: "public" } as const;
    await addReferences(api, (await makeDefinition(api.db.sql, user, open)).id, owner, ["^1.0.0"]);
  }
  const ranges = Array.from({ length: MAX_REFERENCED_RANGES }, (_, patch) => `<1.0.${patch + 1}`);
  const draft = await makeDefinition(api.db.sql, flooder, { name: "draft" });
  await addReferences(api, draft.id, owner, ranges);
  const before = await dependentsOf(api, "/agent/helper");
  expect(before).toMatchObject({ totalCount: 2, truncated: false });
  const published = { name: "flood", status: "published", visibility: "public" } as const;
  await addReferences(api, (await makeDefinition(api.db.sql, flooder, published)).id, owner, ranges);
  const after = await dependentsOf(api, "/agent/helper");
  expect(after.dependents.map(({ name }) => name)).toEqual(["flood", "helped", "helped"]);
  expect(after).toMatchObject({ totalCount: 3, truncated: true });
});

test("dependents from several organizations of one user do not hide other dependents", async () => {
  await using api = await openTestApp();
  const [owner, flooder, user] = [await api.make.person(), await api.make.person(), await api.make.person()];
  const open = { status: "published", visibility: "public" } as const;
  await makeDefinition(api.db.sql, owner, { name: "helper", ...open });
  const helped = await makeDefinition(api.db.sql, user, { name: "helped", ...open });
  await addReferences(api, helped.id, owner, ["~1.0.0", "^1.0.0"]);
  const ranges = Array.from({ length: MAX_REFERENCED_RANGES }, (_, patch) => `<1.0.${patch + 1}`);
  for (const org of [flooder.org, flooder.personalOrg]) {
    for (const name of ["flood", "more"]) {
      const flood = await makeDefinition(api.db.sql, { ...flooder, org }, { name, ...open });
      await addReferences(api, flood.id, owner, ranges);
    }
  }
  const { dependents } = await dependentsOf(api, "/agent/helper");
  expect(dependents.map(({ name }) => name)).toEqual(["flood", "flood", "helped", "more", "more"]);
});

/** Adds one reference per range to a version, in SQL. The target is the organization's agent "helper". */
async function addReferences(api: TestApp, definitionId: string, { org }: Person, ranges: readonly string[]) {
  await api.db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree, org_slug, target_org_id)
    select ${definitionId}, r.position, 'agent', 'helper', r.range, 'dependencies.requires', true, ${org.slug}, ${org.id}
    from unnest(${api.db.sql.array([...ranges])}::text[]) with ordinality as r (range, position)`;
}
