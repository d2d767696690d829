/** Definitions with only deprecated versions. Their URLs still work and name the replacement. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  type Caller,
  definitionOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { makePlatformAdmin } from "../../../helpers/definitions/executions.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";

/** Publishes two versions and deprecates both. */
async function makeDeprecated(api: TestApp, author: Person): Promise<void> {
  for (const version of ["1.0.0", "1.2.0"]) {
    await publishAgent(api, author, { name: "old", version, visibility: "public" });
    const body = { reason: "Replaced by a faster one", successor: "young" };
    await write(api, `/agent/old@${version}/deprecate`, author, { body });
  }
}

async function idOf(api: TestApp, caller: Caller | null, path = "/agent/old"): Promise<string> {
  return (await definitionOf(await ask(api, path, caller))).id;
}

test("the URLs of a fully deprecated definition return its highest version with the reason and successor", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  await makeDeprecated(api, author);
  const { slug } = author.org;
  for (const address of ["old", `@${slug}/old`]) {
    for (const ending of ["", ".md", ".yaml"]) {
      const { status, headers } = await ask(api, `/agent/${address}${ending}`, null);
      expect([address, ending, status]).toEqual([address, ending, 200]);
      expect(headers.get("deprecation")).toMatch(/^@\d+$/);
      expect(headers.get("link")).toEndWith(`/agent/@${slug}/young>; rel="successor-version"`);
    }
    expect(await definitionOf(await ask(api, `/agent/${address}`, null))).toMatchObject({
      version: "1.2.0",
      status: "deprecated",
      deprecationReason: "Replaced by a faster one",
      successor: "young",
    });
    for (const below of [
      "/versions",
      "/forkable",
      "/lineage",
      "/forks",
      "/dependencies",
      "/dependents",
      "/executions",
    ]) {
      const { status } = await ask(api, `/agent/${address}${below}`, null);
      expect([address, below, status]).toEqual([address, below, 200]);
    }
  }
  const fork = await write(api, "/agent/old/fork", await api.make.person(), { body: { name: "mine" } });
  expect(fork.status).toBe(201);
});

test("a published version takes precedence over deprecated versions, and archived or quarantined versions are skipped", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  await makeDeprecated(api, author);
  const { id } = await publishAgent(api, author, { name: "old", version: "0.9.0", visibility: "public" });
  expect(await idOf(api, null)).toBe(id);
  await makeDefinition(api.db.sql, author, { name: "gone", status: "archived", visibility: "public" });
  expect((await ask(api, "/agent/gone", null)).status).toBe(404);
  await makeDefinition(api.db.sql, author, { name: "held", status: "deprecated", visibility: "public" });
  await api.db
    .sql`update definitions set quarantined_at = now(), quarantine_reason = 'x' where name = 'held'`;
  expect((await ask(api, "/agent/held", author)).status).toBe(404);
});

test("a bare name prefers the caller's own definition, then published definitions, then deprecated definitions", async () => {
  await using api = await openTestApp();
  const [first, second] = [await api.make.person(), await api.make.person()] as const;
  await makeDeprecated(api, first);
  const own = await idOf(api, null);
  const published = await publishAgent(api, second, { name: "old", visibility: "public" });
  for (const below of ["", "/dependencies", "/dependents"]) {
    const bare = await (await ask(api, `/agent/old${below}`, null)).text();
    expect(bare).toBe(await (await ask(api, `/agent/@${second.org.slug}/old${below}`, null)).text());
  }
  expect(await idOf(api, null)).toBe(published.id);
  // Members still get their own organization's deprecated definition by its bare name.
  expect(await idOf(api, { key: first.key })).toBe(own);
  const reader = await api.make.person();
  const yaml = agentNeeding("user", ["old"]);
  await publishAgent(api, reader, { name: "user", yaml, visibility: "public" });
  const tree = await (await ask(api, "/agent/user/dependencies", null)).json();
  expect(tree).toMatchObject({ data: { flat: [{ id: published.id }] } });
});

test("dependents and executions of a definition cover all versions, even if all are archived", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const admin = await makePlatformAdmin(api);
  await publishAgent(api, author, { name: "old", visibility: "public" });
  const yaml = agentNeeding("user", ["old@1.0.0"]);
  await publishAgent(api, author, { name: "user", yaml, visibility: "public" });
  const read = async (below: string) => (await ask(api, `/agent/old${below}`, null)).json();
  const both = async () => [await read("/dependents"), await read("/executions")];
  const expected = [
    { data: { dependents: [{ name: "user" }], totalCount: 1 } },
    { data: { totalCount: 1, recentCount: 1 } },
  ];
  await write(api, "/agent/old@1.0.0/deprecate", author, { body: { reason: "Old" } });
  const recorded = await write(api, "/agent/old/executions", { key: admin.key }, { body: { source: "cli" } });
  expect(recorded.status).toBe(201);
  expect(await both()).toMatchObject(expected);
  await write(api, "/agent/old@1.0.0/archive", author);
  expect(await both()).toMatchObject(expected);
});
