/** Quarantined definitions are visible only to members of their organization, and do not resolve for anyone. */
import { expect, test } from "bun:test";
import { markOrgDeleted } from "../../../sql/accounts/organization_deletion.ts";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import {
  agentNeeding,
  ask,
  type Caller,
  createAgent,
  definitionOf,
  errorOf,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { makeFork } from "../../helpers/definitions/forks.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import type { Person } from "../../helpers/postgres/factory.ts";

function own({ key, org }: Person): Caller {
  return { key, org };
}

function quarantine(api: TestApp, name: string, ...reason: string[]) {
  const words = reason.length > 0 ? ["quarantine", "--reason", ...reason] : ["release"];
  return runJson(api.db.url, ["definition", ...words, "--type", "agent", "--name", name]);
}

async function statuses(api: TestApp, caller: Caller | null, paths: readonly string[]) {
  return Promise.all(paths.map(async (path) => (await ask(api, `/agent/${path}`, caller)).status));
}

async function listed(api: TestApp, caller: Caller | null, query = ""): Promise<string[]> {
  const response = await ask(api, `?latestOnly=true&sortBy=name&sortOrder=asc${query}`, caller);
  const { data } = (await response.json()) as {
    data: { definitions: { name: string; version: string }[]; total: number };
  };
  expect(data.total).toBe(data.definitions.length);
  return data.definitions.map(({ name, version }) => `${name}@${version}`);
}

test("a quarantined version is hidden from strangers, and references resolve to the next lower version", async () => {
  await using api = await openTestApp();
  const [owner, stranger] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  const bad = await publishAgent(api, own(owner), { name: "helper", version: "1.1.0", visibility: "public" });
  const yaml = agentNeeding("user", ["helper@^1.0.0"]);
  await publishAgent(api, own(stranger), { name: "user", yaml, visibility: "public" });
  const resolved = async (caller: Caller | null) => {
    const { refs } = (await definitionOf(
      await ask(api, "/agent/user?includeRefs=true", caller),
    )) as unknown as { refs: { resolvedVersion: string | null }[] };
    return refs.map(({ resolvedVersion }) => resolvedVersion);
  };
  const dependents = async (path: string) =>
    ((await (await ask(api, `/agent/${path}/dependents`, null)).json()) as { data: { totalCount: number } })
      .data.totalCount;
  expect([await resolved(null), await dependents("helper@1.1.0")]).toEqual([["1.1.0"], 1]);
  const name = `@${owner.org.slug}/helper@1.1.0`;
  const printed = await quarantine(api, name, "It sends secrets away");
  expect(printed).toEqual({
    type: "agent",
    name: `@${owner.org.slug}/helper`,
    version: "1.1.0",
    quarantinedAt: expect.any(String),
    quarantineReason: "It sends secrets away",
    versions: 1,
  });
  const paths = [
    "helper@1.1.0",
    `@${owner.org.slug}/helper@1.1.0`,
    "helper@1.1.0/dependencies",
    "helper@1.1.0/dependents",
    "helper@1.1.0/executions",
    "helper@1.1.0/forkable",
    "helper@1.1.0/lineage",
    "helper/diff?from=1.0.0&to=1.1.0",
  ];
  for (const caller of [null, { key: stranger.key }]) {
    expect(await statuses(api, caller, paths)).toEqual(paths.map(() => 404));
    expect((await definitionOf(await ask(api, "/agent/helper", caller))).version).toBe("1.0.0");
    expect(await listed(api, caller, "&search=helper")).toEqual(["helper@1.0.0"]);
    expect(await resolved(caller)).toEqual(["1.0.0"]);
  }
  expect(await dependents("helper@1.0.0")).toBe(1);
  // Members see the version and the reason, but the version does not resolve for them either.
  const seen = { quarantinedAt: printed["quarantinedAt"], quarantineReason: "It sends secrets away" };
  expect(await statuses(api, own(owner), paths)).toEqual(paths.map(() => 200));
  expect(await definitionOf(await ask(api, "/agent/helper@1.1.0", own(owner)))).toMatchObject({
    id: bad.id,
    ...seen,
  });
  const history = (await (await ask(api, "/agent/helper/versions", own(owner))).json()) as {
    data: { versions: object[] };
  };
  expect(history.data.versions).toMatchObject([
    { version: "1.1.0", ...seen },
    { version: "1.0.0", quarantinedAt: null, quarantineReason: null },
  ]);
  const items = (await (await ask(api, "?search=helper", own(owner))).json()) as {
    data: { definitions: object[] };
  };
  expect(items.data.definitions).toMatchObject([{ version: "1.1.0", ...seen }]);
  expect((await definitionOf(await ask(api, "/agent/helper", own(owner)))).version).toBe("1.0.0");
  expect(await resolved({ key: owner.key })).toEqual(["1.0.0"]);
  const fork = await write(api, "/agent/helper@1.1.0/fork", own(owner), { body: { name: "copy" } });
  expect(await errorOf(fork)).toEqual([409, "NOT_FORKABLE", { reason: "NOT_PUBLISHED" }]);
  // Releasing the version makes it visible to everyone again.
  expect(await quarantine(api, name)).toMatchObject({
    quarantinedAt: null,
    quarantineReason: null,
    versions: 1,
  });
  expect(await statuses(api, null, paths)).toEqual(paths.map(() => 200));
  expect([await resolved(null), await listed(api, null, "&search=helper")]).toEqual([
    ["1.1.0"],
    ["helper@1.1.0"],
  ]);
});

test("quarantining a line quarantines all of its versions, including versions added later", async () => {
  await using api = await openTestApp();
  const [owner, stranger] = [await api.make.person(), await api.make.person()] as const;
  const { slug } = owner.org;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  await createAgent(api, own(owner), { name: "helper", version: "2.0.0", visibility: "public" });
  await makeFork(api, own(owner), "/agent/helper", { name: "fork", visibility: "public" });
  await write(api, "/agent/fork@1.0.0/publish", own(owner));
  const bare = await publishAgent(api, own(stranger), {
    name: "helper",
    version: "1.0.1",
    visibility: "public",
  });
  expect(await quarantine(api, `@${slug}/helper`, "Malicious")).toMatchObject({ version: null, versions: 2 });
  await write(api, "/agent/helper@2.0.0/publish", own(owner));
  await publishAgent(api, own(owner), { name: "helper", version: "3.0.0", visibility: "public" });
  const paths = ["1.0.0", "2.0.0", "3.0.0"].map((version) => `@${slug}/helper@${version}`);
  expect(await statuses(api, null, [`@${slug}/helper`, ...paths])).toEqual([404, 404, 404, 404]);
  expect(await statuses(api, own(owner), paths)).toEqual([200, 200, 200]);
  expect(await errorOf(await ask(api, "/agent/helper", own(owner)))).toMatchObject([
    404,
    "NOT_FOUND",
    { reason: "version" },
  ]);
  // For an anonymous caller, a bare name resolves to the next line, as if the quarantined line did not exist.
  expect((await definitionOf(await ask(api, "/agent/helper", null))).id).toBe(bare.id);
  expect(await listed(api, null)).toEqual(["fork@1.0.0", "helper@1.0.1"]);
  expect(await listed(api, own(owner))).toEqual(["fork@1.0.0", "helper@3.0.0"]);
  const profile = await api.request(`/api/v1/orgs/${slug}/profile`);
  expect(await profile.json()).toMatchObject({ data: { publicDefinitions: 1 } });
  const chain = async (caller: Caller | null) => {
    const { data } = (await (await ask(api, "/agent/fork/lineage", caller)).json()) as {
      data: { chain: object[] };
    };
    return data.chain;
  };
  expect(await chain(null)).toMatchObject([{ sourceName: null, sourceAvailable: false }]);
  expect(await chain(own(owner))).toMatchObject([{ sourceName: "helper", sourceAvailable: true }]);
  const alone = ["definition", "release", "--type", "agent", "--name", `@${slug}/helper@1.0.0`];
  expect(await runCommand(api.db.url, alone)).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining("the whole definition is quarantined"),
  });
  expect(await quarantine(api, `@${slug}/helper`)).toMatchObject({ versions: 3 });
  expect(await statuses(api, null, paths)).toEqual([200, 200, 200]);
});

test("if only a quarantined version is published, a name resolves to the highest version in any status", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  await createAgent(api, own(owner), { name: "helper", version: "1.1.0" });
  await quarantine(api, `@${owner.org.slug}/helper@1.0.0`, "Malicious");
  const dependents = await ask(api, "/agent/helper/dependents", own(owner));
  expect(await dependents.json()).toMatchObject({ data: { definition: { version: "1.1.0" } } });
});

test("a list with publishedFirst shows the version that the bare name resolves to, not a quarantined version", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const member = own(owner);
  const address = `@${owner.org.slug}/helper`;
  await publishAgent(api, member, { name: "helper", visibility: "public" });
  await publishAgent(api, member, { name: "helper", version: "1.1.0", visibility: "public" });
  const first = () => listed(api, member, "&publishedFirst=true");
  await quarantine(api, `${address}@1.1.0`, "Wrong");
  expect(await first()).toEqual(["helper@1.0.0"]);
  await createAgent(api, member, { name: "helper", version: "2.0.0" });
  await quarantine(api, `${address}@1.0.0`, "Wrong");
  expect(await first()).toEqual(["helper@2.0.0"]);
  await quarantine(api, `${address}@1.1.0`);
  expect(await first()).toEqual(["helper@1.1.0"]);
});

test("a reference bound to a quarantined line stays unresolved instead of resolving to another line", async () => {
  await using api = await openTestApp();
  const [owner, stranger, author] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  const yaml = agentNeeding("user", ["helper"]);
  await publishAgent(api, own(author), { name: "user", yaml, visibility: "public" });
  await publishAgent(api, own(stranger), { name: "helper", visibility: "public" });
  await quarantine(api, `@${owner.org.slug}/helper`, "Malicious");
  for (const caller of [null, own(author), { key: owner.key }]) {
    const { data } = (await (await ask(api, "/agent/user/dependencies", caller)).json()) as {
      data: { totalCount: number; unresolved: object[] };
    };
    expect([data.totalCount, data.unresolved]).toMatchObject([0, [{ name: "helper" }]]);
  }
});

test("executions of quarantined definitions are not recorded for any caller", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  await api.db.sql`update users set platform_role = 'admin' where id = ${owner.user.id}`;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  await quarantine(api, `@${owner.org.slug}/helper@1.0.0`, "Malicious");
  const response = await write(api, "/agent/helper@1.0.0/executions", own(owner), {
    body: { source: "cli" },
  });
  expect((await errorOf(response)).slice(0, 2)).toEqual([404, "NOT_FOUND"]);
});

test("operators can quarantine definitions of a deleted organization, and the organization's audit log records it", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const { id, slug } = owner.org;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  await api.db.sql`update organizations set deletes_at = now() where id = ${id}`;
  await api.db.sql.begin((tx) => markOrgDeleted(tx, id));
  const paths = [`@${slug}/helper`];
  expect(await statuses(api, null, paths)).toEqual([200]);
  await quarantine(api, `@${slug}/helper`, "It sends secrets away");
  expect(await statuses(api, null, paths)).toEqual([404]);
  const { entries } = await runJson<{ entries: { action: string }[] }>(api.db.url, [
    ...["audit", "list", "--org", slug, "--limit", "1"],
  ]);
  expect(entries.map(({ action }) => action)).toEqual(["definition.quarantine"]);
  await quarantine(api, `@${slug}/helper`);
  expect(await statuses(api, null, paths)).toEqual([200]);
});

test("operators get clear errors, and the audit log records every change", async () => {
  await using api = await openTestApp();
  const owner = await api.make.person();
  const { slug } = owner.org;
  await publishAgent(api, own(owner), { name: "helper", visibility: "public" });
  const run = async (verb: string, name: string, ...rest: string[]) => {
    const words = ["definition", verb, "--type", "agent", "--name", name, ...rest];
    const { exitCode, err } = await runCommand(api.db.url, words);
    return [exitCode, err.trim()];
  };
  const name = `@${slug}/helper`;
  const because = ["--reason", "Malicious"];
  expect(await run("quarantine", "helper", ...because)).toEqual([2, expect.stringContaining("@org/name")]);
  expect(await run("quarantine", name)).toEqual([2, expect.stringContaining("--reason")]);
  const longest = "🙂".repeat(2000);
  for (const reason of [" ", `${longest}!`]) {
    expect(await run("quarantine", name, "--reason", reason)).toEqual([
      2,
      expect.stringContaining("--reason must have 1 to 2000 characters"),
    ]);
  }
  expect(await run("quarantine", "@nobody/helper", ...because)).toEqual([
    1,
    expect.stringContaining('"nobody"'),
  ]);
  expect(await run("quarantine", `${name}@9.0.0`, ...because)).toEqual([
    1,
    expect.stringContaining("@9.0.0"),
  ]);
  expect(await run("release", name)).toEqual([1, expect.stringContaining("not quarantined")]);
  expect(await run("quarantine", `${name}@1.0.0`, "--reason", longest)).toEqual([0, ""]);
  expect(await run("quarantine", `${name}@1.0.0`, ...because)).toEqual([
    1,
    expect.stringContaining("already"),
  ]);
  expect(await run("quarantine", name, ...because)).toEqual([0, ""]);
  expect(await run("release", name)).toEqual([0, ""]);
  const rows = await api.db.sql`
    select actor_type, action, subject_type, org_id, details
    from audit_log
    where action in ('definition.quarantine', 'definition.release')
    order by id`;
  const entry = { actorType: "operator", orgId: owner.org.id };
  const about = { type: "agent", name: "helper" };
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      ...entry,
      action: "definition.quarantine",
      subjectType: "definition",
      details: { ...about, version: "1.0.0", versions: 1, reason: longest },
    },
    {
      ...entry,
      action: "definition.quarantine",
      subjectType: "definition_line",
      details: { ...about, version: null, versions: 0, reason: "Malicious" },
    },
    {
      ...entry,
      action: "definition.release",
      subjectType: "definition_line",
      details: { ...about, version: null, versions: 1 },
    },
  ]);
  const [count] = await api.db
    .sql`select count(*)::int as n from definitions where quarantined_at is not null`;
  expect(count).toEqual({ n: 0 });
});
