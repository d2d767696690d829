/** A reference is bound to one line at publication. A stranger's line of the same name never replaces that line. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  type Caller,
  createAgent,
  definitionOf,
  errorOf,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { makeFork } from "../../../helpers/definitions/forks.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person } from "../../../helpers/postgres/factory.ts";

interface Warning {
  code: string;
  details: unknown;
}

function own({ key, org }: Person): Caller {
  return { key, org };
}

/** Publishes an agent with dependencies, and returns the warnings. */
async function publishNeeding(
  api: TestApp,
  caller: Caller,
  given: { name: string; requires: readonly string[]; version?: string; visibility?: string },
): Promise<Warning[]> {
  const { name, requires, version = "1.0.0", visibility = "public" } = given;
  const yaml = agentNeeding(name, requires, version);
  await createAgent(api, caller, { name, version, yaml, visibility });
  const response = await write(api, `/agent/${name}@${version}/publish`, caller);
  const { warnings } = (await response.json()) as { warnings?: Warning[] };
  if (!warnings) throw new Error(`Cannot publish: ${response.status}`);
  return warnings.map(({ code, details }) => ({ code, details }));
}

/**
 * Returns the ids of direct dependencies and the names of unresolved references. Fails if `includeRefs` reports different
 * unresolved names.
 */
async function needs(api: TestApp, path: string, caller: Caller | null): Promise<unknown> {
  const found = await ask(api, `/agent/${path}/dependencies?maxDepth=1`, caller);
  const { data } = (await found.json()) as {
    data: { flat: { id: string; version: string }[]; unresolved: object[] };
  };
  const read = await ask(api, `/agent/${path}?includeRefs=true`, caller);
  const { refs } = (await definitionOf(read)) as unknown as {
    refs: { name: string; resolvedVersion: string | null }[];
  };
  const missing = refs.filter(({ resolvedVersion }) => resolvedVersion === null).map(({ name }) => name);
  expect(data.unresolved.map((reference) => (reference as { name: string }).name)).toEqual(missing);
  return [...data.flat.map(({ id }) => id), ...missing.map((name) => `no ${name}`)];
}

test("a reference to a private line never resolves to another organization's line of the same name", async () => {
  await using api = await openTestApp();
  const [mallory, victim, customer] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  const evil = { name: "deploy-helper", version: "9.9.9", visibility: "public" };
  await publishAgent(api, own(mallory), evil);
  const real = await publishAgent(api, own(victim), { name: "deploy-helper" });
  const warnings = await publishNeeding(api, own(victim), {
    name: "deployment",
    requires: ["deploy-helper"],
  });
  expect(warnings).toEqual([
    { code: "REFERENCE_NOT_PUBLIC", details: { type: "agent", name: "deploy-helper" } },
  ]);
  expect(await needs(api, "deployment", own(victim))).toEqual([real.id]);
  for (const caller of [null, { key: customer.key }, { key: mallory.key }]) {
    expect(await needs(api, "deployment", caller)).toEqual(["no deploy-helper"]);
  }
  // A bare name resolves to the caller's own line first, with an unbound key and with a bound key.
  const bound = await api.make.key({ userId: victim.user.id, orgId: victim.org.id });
  for (const key of [victim.key, bound.key]) {
    const read = await definitionOf(await ask(api, "/agent/deploy-helper", { key }));
    expect(read.id).toBe(real.id);
  }
});

test("a bound reference keeps its target for every reader when other lines of the same name are added", async () => {
  await using api = await openTestApp();
  const [first, second, author] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  const helper = await publishAgent(api, own(first), { name: "helper", visibility: "public" });
  await publishNeeding(api, own(author), { name: "user", requires: ["helper@>=1.0.0"] });
  await publishAgent(api, own(second), { name: "helper", version: "5.0.0", visibility: "public" });
  await publishAgent(api, own(author), { name: "helper", version: "6.0.0", visibility: "public" });
  for (const caller of [null, { key: first.key }, { key: second.key }, { key: author.key }]) {
    expect(await needs(api, "user@1.0.0", caller)).toEqual([helper.id]);
  }
  // Publishing the next version resolves its references again. By now, the author has a line named "helper".
  await publishNeeding(api, own(author), { name: "user", requires: ["helper"], version: "2.0.0" });
  const [mine] = await api.db.sql`select id from definitions where version = '6.0.0'`;
  expect(await needs(api, "user@2.0.0", null)).toEqual([mine?.["id"]]);
  expect(await needs(api, "user@1.0.0", null)).toEqual([helper.id]);
  // A range resolves to the newest matching version of the bound line.
  const newer = await publishAgent(api, own(first), {
    name: "helper",
    version: "1.1.0",
    visibility: "public",
  });
  expect(await needs(api, "user@1.0.0", null)).toEqual([newer.id]);
});

test("an unknown name in a published reference is reserved for the author's organization", async () => {
  await using api = await openTestApp();
  const [author, mallory] = [await api.make.person(), await api.make.person()] as const;
  const warnings = await publishNeeding(api, own(author), { name: "user", requires: ["missing@^1.0.0"] });
  expect(warnings).toEqual([
    { code: "UNRESOLVED_REFERENCE", details: { type: "agent", name: "missing", range: "^1.0.0" } },
  ]);
  await publishAgent(api, own(mallory), { name: "missing", visibility: "public" });
  for (const caller of [null, own(author), { key: author.key }, { key: mallory.key }]) {
    expect(await needs(api, "user", caller)).toEqual(["no missing"]);
  }
  const made = await publishAgent(api, own(author), { name: "missing", visibility: "public" });
  expect(await needs(api, "user", null)).toEqual([made.id]);
});

test("an organization's own draft prevents a name from binding to a stranger's line", async () => {
  await using api = await openTestApp();
  const [author, mallory] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, own(mallory), { name: "helper", visibility: "public" });
  await createAgent(api, own(author), { name: "helper" });
  const warnings = await publishNeeding(api, own(author), { name: "user", requires: ["helper"] });
  expect(warnings.map(({ code }) => code)).toEqual(["UNRESOLVED_REFERENCE"]);
  await write(api, "/agent/helper@1.0.0", own(author), { method: "DELETE" });
  expect(await needs(api, "user", null)).toEqual(["no helper"]);
});

test("@org/name refers only to that organization's line, with and without a range", async () => {
  await using api = await openTestApp();
  const [acme, other, author] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  await publishAgent(api, own(other), { name: "helper", visibility: "public" });
  await publishAgent(api, own(author), { name: "helper", visibility: "public" });
  const helper = await publishAgent(api, own(acme), { name: "helper", visibility: "public" });
  const written = `@${acme.org.slug}/helper`;
  for (const [version, reference] of [
    ["1.0.0", written],
    ["1.0.1", `${written}@latest`],
    ["1.0.2", `${written}@^1.0.0`],
    ["1.0.3", `${written}@1.0.0`],
  ] as const) {
    expect(await publishNeeding(api, own(author), { name: "user", requires: [reference], version })).toEqual(
      [],
    );
    expect(await needs(api, `user@${version}`, null)).toEqual([helper.id]);
  }
  const none = await publishNeeding(api, own(author), { name: "stuck", requires: [`${written}@^2.0.0`] });
  expect(none).toEqual([
    { code: "UNRESOLVED_REFERENCE", details: { type: "agent", name: written, range: "^2.0.0" } },
  ]);
  expect(await needs(api, "stuck", null)).toEqual([`no ${written}`]);
  // A document whose reference names an organization can be rendered.
  expect((await definitionOf(await ask(api, "/agent/user", null))).translationError).toBeNull();
});

test("@org/name of a hidden line is reported as unresolved, and a later owner of an unknown slug cannot claim the name", async () => {
  await using api = await openTestApp();
  const [acme, author] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, own(acme), { name: "hidden" });
  const names = [`@${acme.org.slug}/hidden`, `@${acme.org.slug}/nothing`, "@nobody-yet/helper"];
  const warnings = await publishNeeding(api, own(author), { name: "user", requires: names });
  expect(warnings).toEqual(
    names.map((name) => ({
      code: "UNRESOLVED_REFERENCE",
      details: { type: "agent", name, range: "latest" },
    })),
  );
  const squatter = await api.make.person();
  const org = await api.make.org({ slug: "nobody-yet" });
  await api.make.member({ orgId: org.id, userId: squatter.user.id, role: "owner" });
  await publishAgent(api, { key: squatter.key, org }, { name: "helper", visibility: "public" });
  const opened = await publishAgent(api, own(acme), { name: "nothing", visibility: "public" });
  expect(await needs(api, "user", own(author))).toEqual([opened.id, `no ${names[0]}`, `no ${names[2]}`]);
  expect(await needs(api, "user", null)).toEqual(names.map((name) => `no ${name}`));
});

test("a draft's references resolve for each reader as if the draft were published now", async () => {
  await using api = await openTestApp();
  const [mallory, author, reader, colleague] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  for (const { user } of [reader, colleague])
    await api.make.member({ orgId: author.org.id, userId: user.id, role: "publisher" });
  await createAgent(api, own(author), { name: "user", yaml: agentNeeding("user", ["helper", "@x/y"]) });
  const personal = await publishAgent(api, { key: author.key, org: author.personalOrg }, { name: "helper" });
  const readers = await publishAgent(api, own(reader), { name: "helper" });
  const inOrg = (person: Person) => ({ key: person.key, org: author.org });
  expect(await needs(api, "user@1.0.0", own(author))).toEqual([personal.id, "no @x/y"]);
  expect(await needs(api, "user@1.0.0", inOrg(reader))).toEqual([readers.id, "no @x/y"]);
  // For a colleague, references to other members' private lines are unresolved.
  expect(await needs(api, "user@1.0.0", inOrg(colleague))).toEqual(["no helper", "no @x/y"]);
  const shown = await publishAgent(api, own(mallory), { name: "helper", visibility: "public" });
  expect(await needs(api, "user@1.0.0", inOrg(colleague))).toEqual([shown.id, "no @x/y"]);
  expect(await needs(api, "user@1.0.0", own(author))).toEqual([personal.id, "no @x/y"]);
  const mine = await publishAgent(api, own(author), { name: "helper" });
  for (const caller of [own(author), inOrg(reader), inOrg(colleague)]) {
    expect(await needs(api, "user@1.0.0", caller)).toEqual([mine.id, "no @x/y"]);
  }
});

test("validations, dependents and publications resolve a bare name to the same line", async () => {
  await using api = await openTestApp();
  const [mallory, author] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, own(mallory), { name: "helper", visibility: "public" });
  const personal = { key: author.key, org: author.personalOrg };
  await publishAgent(api, personal, { name: "helper", version: "1.2.0" });
  const yaml = agentNeeding("user", ["helper@^1.0.0"]);
  const resolved = { resolvedVersion: "1.2.0", organization: author.personalOrg.slug };
  for (const publish of [false, true]) {
    const report = await write(api, "/validate", own(author), { body: { type: "agent", yaml, publish } });
    expect(await report.json()).toMatchObject({ data: { warnings: [], references: [resolved] } });
  }
  await createAgent(api, own(author), { name: "user", yaml });
  const dependents = async () => {
    const response = await ask(api, `/agent/@${author.personalOrg.slug}/helper/dependents`, {
      key: author.key,
    });
    return response.json();
  };
  const user = { name: "user", version: "1.0.0", organization: author.org.slug };
  expect(await dependents()).toMatchObject({ data: { totalCount: 1, dependents: [user] } });
  const published = await write(api, "/agent/user@1.0.0/publish", own(author));
  expect(await published.json()).toMatchObject({ warnings: [] });
  expect(await dependents()).toMatchObject({ data: { totalCount: 1, dependents: [user] } });
});

test("a line in the author's other organization precedes a stranger's line, but stays hidden from other readers", async () => {
  await using api = await openTestApp();
  const [mallory, author] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, own(mallory), { name: "helper", visibility: "public" });
  const personal = { key: author.key, org: author.personalOrg };
  const mine = await publishAgent(api, personal, { name: "helper" });
  const warnings = await publishNeeding(api, own(author), { name: "user", requires: ["helper"] });
  expect(warnings.map(({ code }) => code)).toEqual(["REFERENCE_NOT_PUBLIC"]);
  expect(await needs(api, "user", { key: author.key })).toEqual([mine.id]);
  expect(await needs(api, "user", null)).toEqual(["no helper"]);
});

test("only public versions get warnings about private references", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  await publishAgent(api, own(author), { name: "hidden" });
  await publishAgent(api, own(author), { name: "unlisted", visibility: "unlisted" });
  const requires = ["hidden@^1.0.0", "unlisted", `@${author.org.slug}/hidden`];
  for (const visibility of ["private", "unlisted"]) {
    const name = `${visibility}-user`;
    expect(await publishNeeding(api, own(author), { name, requires, visibility })).toEqual([]);
  }
  const warnings = await publishNeeding(api, own(author), { name: "public-user", requires });
  expect(warnings).toEqual(
    ["hidden", `@${author.org.slug}/hidden`].map((name) => ({
      code: "REFERENCE_NOT_PUBLIC",
      details: { type: "agent", name },
    })),
  );
});

test("a fork into another organization qualifies the source's references and keeps comments", async () => {
  await using api = await openTestApp();
  const [acme, mallory, forker] = [
    await api.make.person(),
    await api.make.person(),
    await api.make.person(),
  ] as const;
  await publishAgent(api, own(mallory), { name: "helper", visibility: "public" });
  await publishAgent(api, own(mallory), { name: "hidden", visibility: "public" });
  await publishAgent(api, own(mallory), { name: "missing", visibility: "public" });
  const helper = await publishAgent(api, own(acme), { name: "helper", visibility: "public" });
  await publishAgent(api, own(acme), { name: "hidden" });
  await createAgent(api, own(acme), { name: "missing" });
  const yaml = agentNeeding("user", [])
    .replace("[]", `[helper@^1.0.0, 'hidden', "missing", "@${mallory.org.slug}/helper"] `)
    .replace("  mission:", "  # What it is for.\n  mission:");
  await publishAgent(api, own(acme), { name: "user", yaml, visibility: "public" });
  const { definition } = await makeFork(api, own(forker), "/agent/user", { name: "mine" });
  const { slug } = acme.org;
  expect(definition.yaml).toBe(
    yaml
      .replace("name: user", "name: mine")
      .replace(
        "helper@^1.0.0, 'hidden', \"missing\"",
        `"@${slug}/helper@^1.0.0", '@${slug}/hidden', "@${slug}/missing"`,
      ),
  );
  const missing = [`no @${slug}/hidden`, `no @${slug}/missing`];
  const ids = [helper.id, await idOf(api, mallory.org.id, "helper")];
  expect(await needs(api, "mine@1.0.0", own(forker))).toEqual([...ids, ...missing]);
  await write(api, "/agent/mine@1.0.0/publish", own(forker));
  expect(await needs(api, "mine@1.0.0", own(forker))).toEqual([...ids, ...missing]);
  const inside = await makeFork(api, own(acme), "/agent/user", { name: "inside" });
  expect(inside.definition.yaml).toBe(yaml.replace("name: user", "name: inside"));
});

async function idOf(api: TestApp, orgId: string, name: string): Promise<string> {
  const [row] = await api.db.sql<[{ id: string }]>`
    select id from definitions where org_id = ${orgId} and name = ${name}`;
  return row.id;
}

test("of two definitions that depend on each other and are published concurrently, one publication is refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (let round = 0; round < 5; round += 1) {
    const [left, right] = [`left-${round}`, `right-${round}`];
    for (const [name, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const yaml = agentNeeding(name, [`@${person.org.slug}/${other}`]);
      await createAgent(api, own(person), { name, yaml });
    }
    const responses = await Promise.all(
      [left, right].map((name) => write(api, `/agent/${name}@1.0.0/publish`, own(person))),
    );
    const refusals = await Promise.all(responses.filter(({ ok }) => !ok).map(errorOf));
    expect(refusals.map(([status, code]) => [status, code])).toEqual([[422, "DEPENDENCY_CYCLE"]]);
    await Promise.all(responses.filter(({ ok }) => ok).map((response) => response.body?.cancel()));
  }
});
