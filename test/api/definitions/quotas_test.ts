/** Registry quotas of an organization, and maximum lengths of text fields. */
import { expect, test } from "bun:test";
import { lockQuotas } from "../../../api/definitions/quotas.ts";
import {
  agentYaml,
  ask,
  type Caller,
  createAgent,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import type { Person } from "../../helpers/postgres/factory.ts";
import { listWaiting } from "../../helpers/postgres/waiting_sessions.ts";
import { waitFor } from "../../helpers/wait_for.ts";

function own({ key, org }: Person): Caller {
  return { key, org };
}

async function create(
  api: TestApp,
  caller: Caller,
  name: string,
  version = "1.0.0",
): Promise<readonly unknown[]> {
  const response = await write(api, `/agent/${name}`, caller, { body: { yaml: agentYaml(name, version) } });
  return response.status === 201 ? [201] : errorOf(response);
}

/** Creates a line with `count` drafts. */
async function makeDrafts(api: TestApp, { org, user }: Person, count: number): Promise<void> {
  const { lineId } = await makeDefinition(api.db.sql, { org, user }, { name: "many" });
  await api.db.sql`
    insert into definitions (line_id, org_id, type, name, version, yaml, hash, display_name, author_id, change_type)
    select
      ${lineId}, ${org.id}, 'agent', 'many', '2.0.' || n, 'agent:', 'sha256:' || repeat('0', 64), 'many', ${user.id},
      'patch'
    from generate_series(2, ${count}::int) as n`;
}

async function makeLines(api: TestApp, { org }: Person, count: number): Promise<void> {
  await api.db.sql`
    insert into definition_lines (org_id, type, name)
    select ${org.id}, 'command', 'line-' || n from generate_series(1, ${count}::int) as n`;
}

test.each([
  ["free", 100],
  ["hobbyist", 1_000],
] as const)(
  "a %s organization has at most %d drafts, even if many are added concurrently",
  async (tier, limit) => {
    await using api = await openTestApp();
    const owner = await api.make.person({ tier });
    const source = await publishAgent(api, own(owner), { name: "source" });
    await makeDrafts(api, owner, limit - 3);
    const names = Array.from({ length: 8 }, (_, n) => `new-${n}`);
    const outcomes = await Promise.all(names.map((name) => create(api, own(owner), name)));
    const refused = [409, "QUOTA_EXCEEDED", { quota: "drafts", limit }];
    expect(outcomes.filter(([status]) => status === 201)).toHaveLength(3);
    expect(outcomes.filter(([status]) => status !== 201)).toEqual(Array(5).fill(refused));
    const fork = await write(api, "/agent/source/fork", own(owner), { body: { name: "fork" } });
    const named = new RegExp(
      `Organization \\\\"${owner.org.slug}\\\\" has .* Set X-Org-Slug to use another organization.`,
    );
    expect(await fork.clone().text()).toMatch(named);
    expect(await errorOf(fork)).toEqual(refused);
    await api.db
      .sql`update definitions set runtime_md = null, prompt_hash = null, translator_version = null where id = ${source.id}`;
    const upgrade = await write(api, "/agent/source/upgrade", own(owner), {
      body: { yaml: agentYaml("source") },
    });
    expect(await errorOf(upgrade)).toEqual(refused);
    const again = { body: { createNewVersion: true } };
    expect(await errorOf(await write(api, "/agent/source@1.0.0/retranslate", own(owner), again))).toEqual(
      refused,
    );
    // A missing definition returns 404, even if the quota is exceeded.
    const absent: [path: string, body: object][] = [
      ["source@9.9.9/retranslate", again.body],
      ["nowhere@1.0.0/retranslate", again.body],
      ["source@9.9.9/upgrade", { yaml: agentYaml("source") }],
      ["nowhere/upgrade", { yaml: agentYaml("source") }],
    ];
    for (const [path, body] of absent) {
      const [status, code] = await errorOf(await write(api, `/agent/${path}`, own(owner), { body }));
      expect([path, status, code]).toEqual([path, 404, "NOT_FOUND"]);
    }
    // Published versions do not count as drafts.
    const [made] = names.filter((_, index) => outcomes[index]?.[0] === 201);
    expect((await write(api, `/agent/${made}@1.0.0/publish`, own(owner))).status).toBe(200);
    expect([await create(api, own(owner), "next"), await create(api, own(owner), "more")]).toEqual([
      [201],
      refused,
    ]);
    // Another organization of the same user has its own quota.
    const personal = { key: owner.key, org: owner.personalOrg };
    expect(await create(api, personal, "elsewhere")).toEqual([201]);
  },
);

test("a batch that publishes its documents does not count against the draft quota", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ tier: "free" });
  await makeDrafts(api, owner, 100);
  const submit = async (names: readonly string[], options: object) => {
    const definitions = names.map((name) => ({ yaml: agentYaml(name) }));
    return write(api, "/batch", own(owner), { body: { definitions, ...options } });
  };
  const names = Array.from({ length: 120 }, (_, n) => `new-${n}`);
  const tried = await submit(names, { publish: true, validate: true });
  expect(await tried.json()).toMatchObject({ data: { valid: true } });
  expect((await submit(names, { publish: true })).status).toBe(201);
  const refused = [409, "QUOTA_EXCEEDED", { quota: "drafts", limit: 100 }];
  expect(await errorOf(await submit(["more"], {}))).toEqual(refused);
  // A validation checks the quotas of two requests: the creation of the draft and its publication.
  const body = { type: "agent", yaml: agentYaml("more"), publish: true };
  const one = await write(api, "/validate", own(owner), { body });
  expect(await one.json()).toMatchObject({ data: { errors: [{ code: "QUOTA_EXCEEDED" }] } });
});

test("an invalid document is refused without waiting for a running batch, even close to a quota", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  await makeDrafts(api, owner, 900);
  await api.db.sql.begin(async (tx) => {
    await lockQuotas(tx, { orgId: owner.org.id });
    const wrong = { yaml: "agent: [" };
    expect((await write(api, "/agent/wrong", own(owner), { body: wrong })).status).toBe(422);
    const batch = { definitions: [wrong] };
    expect((await write(api, "/batch", own(owner), { body: batch })).status).toBe(422);
    const edit = { method: "PUT", body: wrong };
    expect((await ask(api, "/agent/many@2.0.2", own(owner), edit)).status).toBe(422);
  });
});

test("concurrent batches and single writes together stay within the draft quota", async () => {
  await using api = await openTestApp({ config: { databasePoolMax: 10 } });
  const owner = await api.make.person({ tier: "free" });
  await createAgent(api, own(owner), { name: "base" });
  const submit = async (version: string) => {
    const added = Array.from({ length: 97 }, (_, n) => agentYaml(`new-${n}`, version));
    const definitions = [agentYaml("base", version), ...added].map((yaml) => ({ yaml }));
    const response = await write(api, "/batch", own(owner), { body: { definitions } });
    return response.status === 201 ? [201] : errorOf(response);
  };
  // The lock makes all three requests start before any request adds a version.
  const { running } = await api.db.owner.begin(async (tx) => {
    await tx`select from definition_lines where name = 'base' for no key update`;
    const batches = ["2.0.0", "3.0.0"].map(submit);
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 2);
    const single = create(api, own(owner), "base", "4.0.0");
    await waitFor(async () => (await listWaiting(api.db.admin)).length === 3);
    return { running: Promise.all([single, ...batches]) };
  });
  const [single, ...batches] = await running;
  expect(single).toEqual([201]);
  expect(batches.toSorted()).toMatchObject([[201], [409, "QUOTA_EXCEEDED", { quota: "drafts", limit: 100 }]]);
  const [count] = await api.db.sql<[{ drafts: number }]>`select count(*)::int as drafts from definitions`;
  expect(count.drafts).toBe(100);
});

test.each([
  ["free", 1_000],
  ["pro", 10_000],
] as const)("a %s organization has at most %d lines", async (tier, limit) => {
  await using api = await openTestApp();
  const owner = await api.make.person({ tier });
  await makeLines(api, owner, limit - 1);
  expect(await create(api, own(owner), "last")).toEqual([201]);
  expect(await create(api, own(owner), "more")).toEqual([409, "QUOTA_EXCEEDED", { quota: "lines", limit }]);
  expect(await create(api, own(owner), "last", "1.0.1")).toEqual([201]);
});

test("no endpoint creates more than 10,000 versions of a definition, and existing drafts stay editable", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ tier: "free" });
  const draft = await createAgent(api, own(owner), { name: "many", version: "9.0.0" });
  const addArchived = (first: number, count: number) => api.db.sql`
    insert into definitions (
      line_id, org_id, type, name, version, status, yaml, hash, display_name, author_id, change_type, published_at,
      deprecated_at, archived_at, deprecation_reason
    )
    select
      line_id, org_id, type, name, '0.0.' || n, 'archived', yaml, hash, display_name, author_id, 'patch', now(), now(),
      now(), 'Made anew'
    from definitions, generate_series(${first}::int, ${first + count - 1}::int) as n
    where id = ${draft.id}`;
  await addArchived(1, 9_998);
  const submit = async (versions: readonly string[], validate = false) => {
    const definitions = versions.map((version) => ({ yaml: agentYaml("many", version) }));
    const response = await write(api, "/batch", own(owner), { body: { definitions, validate } });
    return response.ok ? ((await response.json()) as object) : errorOf(response);
  };
  const details = { quota: "versions", limit: 10_000 };
  // The quota has room for one of the two versions.
  const refused = [409, "QUOTA_EXCEEDED", { ...details, errors: [{ index: 1, code: "QUOTA_EXCEEDED" }] }];
  expect(await submit(["9.1.0", "9.2.0"])).toMatchObject(refused);
  expect(await create(api, own(owner), "many", "9.1.0")).toEqual([201]);
  expect(await create(api, own(owner), "many", "9.2.0")).toEqual([409, "QUOTA_EXCEEDED", details]);
  await api.db
    .sql`update definitions set runtime_md = null, prompt_hash = null, translator_version = null where status = 'draft'`;
  const upgrade = { body: { yaml: agentYaml("many") } };
  expect(await errorOf(await write(api, "/agent/many/upgrade", own(owner), upgrade))).toEqual([
    ...[409, "QUOTA_EXCEEDED", details],
  ]);
  await addArchived(9_999, 5);
  expect(await submit(["9.3.0"], true)).toMatchObject({
    data: { valid: false, definitions: [{ errors: [{ code: "QUOTA_EXCEEDED", details }] }] },
  });
  const edit = { method: "PUT", body: { description: "Edited" } } as const;
  expect((await write(api, "/agent/many@9.1.0", own(owner), edit)).status).toBe(200);
  expect((await write(api, "/agent/many@9.1.0/publish", own(owner))).status).toBe(200);
});

test.each([
  ["free", 50_000_000],
  ["plus", 500_000_000],
] as const)("a %s organization has at most %d bytes of YAML", async (tier, limit) => {
  await using api = await openTestApp();
  const owner = await api.make.person({ tier });
  const yaml = agentYaml("first");
  const draft = await createAgent(api, own(owner), { name: "first", yaml });
  const [line] = await api.db.sql`select yaml_bytes::int from definition_lines`;
  expect(line).toEqual({ yamlBytes: Buffer.byteLength(yaml) });
  await api.db.sql`update definition_lines set yaml_bytes = ${limit - 10}`;
  const refused = [409, "QUOTA_EXCEEDED", { quota: "yamlBytes", limit }];
  expect(await create(api, own(owner), "second")).toEqual(refused);
  const again = { body: { createNewVersion: true } };
  const retranslated = await write(api, "/agent/first@1.0.0/retranslate", own(owner), again);
  expect(await errorOf(retranslated)).toEqual(refused);
  const edit = (text: string) =>
    write(api, "/agent/first@1.0.0", own(owner), { method: "PUT", body: { yaml: text } });
  expect((await edit(`${yaml}# 9 bytes`)).status).toBe(200);
  expect(await errorOf(await edit(`${yaml}# ${"more ".repeat(5)}`))).toEqual(refused);
  // An edit that shortens the text is never refused.
  expect((await edit(yaml)).status).toBe(200);
  expect((await write(api, `/agent/first@${draft.version}`, own(owner), { method: "DELETE" })).status).toBe(
    200,
  );
  expect(await create(api, own(owner), "second")).toEqual([201]);
});

test("concurrently growing drafts together stay within the byte quota", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person({ tier: "free" });
  const names = Array.from({ length: 8 }, (_, n) => `draft-${n}`);
  for (const name of names) await createAgent(api, own(owner), { name });
  const limit = 50_000_000;
  const [line] = await api.db.sql<[{ used: number }]>`
    select sum(yaml_bytes)::int as used from definition_lines`;
  const [grown, room] = [2_000, 5_000];
  await api.db.sql`
    update definition_lines set yaml_bytes = yaml_bytes + ${limit - line.used - room} where name = 'draft-0'`;
  const statuses = await Promise.all(
    names.map(async (name) => {
      const yaml = `${agentYaml(name)}# ${"x".repeat(grown - 2)}`;
      const response = await write(api, `/agent/${name}@1.0.0`, own(owner), {
        method: "PUT",
        body: { yaml },
      });
      return response.status;
    }),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses.filter((status) => status === 409)).toHaveLength(6);
  // The field is written into the document, so a longer field makes the document longer.
  const long = { method: "PUT", body: { description: "x".repeat(3_000) } } as const;
  expect(await errorOf(await write(api, "/agent/draft-0@1.0.0", own(owner), long))).toEqual([
    ...[409, "QUOTA_EXCEEDED", { quota: "yamlBytes", limit }],
  ]);
});

test.each([
  ["displayName", 200],
  ["description", 4_000],
] as const)("every endpoint limits %s to %d characters", async (field, limit) => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  await createAgent(api, own(owner), { name: "draft" });
  await publishAgent(api, own(owner), { name: "source" });
  /** Sends a text in a creation, an update and a fork. New names start with `stem`. */
  const send = async (stem: string, text: string) => {
    const yaml = agentYaml(stem, "1.0.0", { [field]: JSON.stringify(text) });
    const responses = [
      await write(api, `/agent/${stem}`, own(owner), { body: { yaml } }),
      await write(api, "/agent/draft@1.0.0", own(owner), { method: "PUT", body: { [field]: text } }),
      await write(api, "/agent/source/fork", own(owner), { body: { name: `${stem}-fork`, [field]: text } }),
    ];
    return Promise.all(responses.map((response) => (response.ok ? [response.status] : errorOf(response))));
  };
  // A character outside the Basic Multilingual Plane counts as one character.
  expect(await send("longest", "😀".repeat(limit))).toEqual([[201], [200], [201]]);
  const refused = [`agent.interface.${field}`, field, field].map((path) => [
    422,
    "UNPROCESSABLE_ENTITY",
    { errors: [{ path }] },
  ]);
  for (const text of ["😀".repeat(limit + 1), "x".repeat(100_000)]) {
    expect(await send("longer", text)).toMatchObject(refused);
  }
});
