/** Dependency cycles across organizations. A stranger's reference never blocks a publication. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  ask,
  type Caller,
  createAgent,
  errorOf,
  publishAgent,
  write,
} from "../../../helpers/definitions/definitions.ts";
import { makeHub } from "../../../helpers/definitions/forest.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

interface Needing {
  name: string;
  requires: readonly string[];
  version?: string;
  visibility?: "public" | "private";
}

/** Publishes an agent with dependencies. */
async function publishNeeding(api: TestApp, caller: Caller, given: Needing): Promise<Response> {
  const { name, requires, version = "1.0.0", visibility = "public" } = given;
  const yaml = agentNeeding(name, requires, version);
  await createAgent(api, caller, { name, version, yaml, visibility });
  return write(api, `/agent/${name}@${version}/publish`, caller);
}

async function warningsOf(response: Response): Promise<string[]> {
  const { warnings } = (await response.json()) as { warnings?: { code: string }[] };
  return (warnings ?? []).map(({ code }) => code);
}

/** Returns direct dependencies as `name@version` and unresolved ones as `no name`. */
async function needs(api: TestApp, path: string, caller: Caller | null): Promise<string[]> {
  const response = await ask(api, `/agent/${path}/dependencies?maxDepth=1`, caller);
  const { data } = (await response.json()) as {
    data: { flat: { name: string; version: string }[]; unresolved: { name: string }[] };
  };
  return [
    ...data.flat.map(({ name, version }) => `${name}@${version}`),
    ...data.unresolved.map(({ name }) => `no ${name}`),
  ];
}

async function dependentsOf(api: TestApp, path: string, caller: Caller | null): Promise<string[]> {
  const response = await ask(api, `/agent/${path}/dependents`, caller);
  const { data } = (await response.json()) as { data: { dependents: { name: string; version: string }[] } };
  return data.dependents.map(({ name, version }) => `${name}@${version}`);
}

test("a stranger's reference to a hidden definition does not block publications of that definition", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  const [mine, theirs] = [`@${victim.org.slug}/secret`, `@${mallory.org.slug}/helper`];
  await publishAgent(api, mallory, { name: "helper", visibility: "public" });
  const visibility = "private";
  expect((await publishNeeding(api, victim, { name: "secret", requires: [theirs], visibility })).status).toBe(
    200,
  );
  const attack = await publishNeeding(api, mallory, { name: "helper", version: "1.1.0", requires: [mine] });
  expect(await warningsOf(attack)).toEqual(["UNRESOLVED_REFERENCE"]);

  const next = { name: "secret", version: "1.0.1", requires: [theirs], visibility } as const;
  expect((await publishNeeding(api, victim, next)).status).toBe(200);
  expect(await needs(api, "secret", victim)).toEqual(["helper@1.1.0"]);
  expect(await needs(api, "helper", { key: victim.key })).toEqual([`no ${mine}`]);
  expect(await dependentsOf(api, "secret", victim)).toEqual([]);

  const yaml = agentNeeding("secret", [theirs], "1.0.2");
  const batch = await write(api, "/batch", victim, { body: { definitions: [{ yaml }], publish: true } });
  expect(batch.status).toBe(201);
  // A public version is not blocked either, because only the stranger's organization sees the cycle.
  const opened = { ...next, version: "1.1.0", visibility: "public" } as const;
  expect((await publishNeeding(api, victim, opened)).status).toBe(200);
  expect(await needs(api, "helper", null)).toEqual([`no ${mine}`]);
  expect(await needs(api, "helper", { key: mallory.key })).toEqual(["secret@1.1.0"]);
});

test("a stranger's reference to a future version blocks no publication, with or without the organization's name", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, mallory, { name: "helper", visibility: "public" });
  const requires = [`@${mallory.org.slug}/helper`];
  await publishNeeding(api, victim, { name: "tool", requires });
  for (const [version, name] of [
    ["1.1.0", `@${victim.org.slug}/tool`],
    ["1.2.0", "tool"],
  ] as const) {
    const attack = { name: "helper", version, requires: [`${name}@^2.0.0`] };
    expect(await warningsOf(await publishNeeding(api, mallory, attack))).toEqual(["UNRESOLVED_REFERENCE"]);
  }
  expect((await publishNeeding(api, victim, { name: "tool", version: "2.0.0", requires })).status).toBe(200);
});

test("a stranger's reference to a version without dependencies does not block later versions", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  const attacks = [
    { name: "hidden", visibility: "private", reference: "", next: ["1.0.1", "1.0.2"] },
    { name: "ranged", visibility: "public", reference: "@0.1.0 || >=2.0.0", next: ["2.0.0", "2.0.1"] },
    { name: "retired", visibility: "public", reference: "", next: ["1.0.1", "1.0.2"] },
  ] as const;
  for (const { name, visibility, reference, next } of attacks) {
    const [mine, theirs] = [`@${victim.org.slug}/${name}`, `@${mallory.org.slug}/${name}-helper`];
    await publishAgent(api, victim, { name, version: "0.1.0", visibility: "public" });
    await publishAgent(api, mallory, { name: `${name}-helper`, visibility: "public" });
    const mid = { name: `${name}-mid`, requires: [theirs], visibility };
    expect((await publishNeeding(api, victim, mid)).status).toBe(200);
    for (const [version, needed] of [
      ["0.9.0", theirs],
      ["1.0.0", `${name}-mid`],
    ] as const) {
      const tool = { name, version, requires: [needed], visibility };
      expect((await publishNeeding(api, victim, tool)).status).toBe(200);
      const isRetired = name === "retired";
      if (isRetired)
        await write(api, `/agent/${name}@${version}/deprecate`, victim, { body: { reason: "Old" } });
    }
    const attack = { name: `${name}-helper`, version: "1.1.0", requires: [`${mine}${reference}`] };
    expect((await publishNeeding(api, mallory, attack)).status).toBe(200);

    for (const [index, version] of next.entries()) {
      const requires = [index === 0 ? theirs : `${name}-mid`];
      expect((await publishNeeding(api, victim, { name, version, requires, visibility })).status).toBe(200);
    }
    // A cycle within the organization is still refused.
    const own = { name: `${name}-mid`, version: "1.1.0", requires: [name], visibility };
    expect((await errorOf(await publishNeeding(api, victim, own)))[1]).toBe("DEPENDENCY_CYCLE");
  }
});

test("a stranger's tree that is too large to search blocks no publication, but new dependencies on that tree are refused", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  await publishNeeding(api, mallory, { name: "helper", requires: ["hub"] });
  const requires = [`@${mallory.org.slug}/helper`];
  await publishNeeding(api, victim, { name: "tool", requires });
  await makeHub(api.db, mallory, "hub");
  await api.db.owner`alter table definitions disable trigger user`;
  await api.db.owner`update definitions set visibility = 'public' where org_id = ${mallory.org.id}`;
  await api.db.owner`alter table definitions enable trigger user`;
  expect((await publishNeeding(api, victim, { name: "tool", version: "1.0.1", requires })).status).toBe(200);
  const refused = await publishNeeding(api, victim, { name: "other", requires });
  expect((await errorOf(refused)).slice(0, 2)).toEqual([503, "SERVICE_UNAVAILABLE"]);
});

test("an organization cannot close a cycle with a new reference, even by retrying", async () => {
  await using api = await openTestApp();
  const [one, two] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, one, { name: "tool", visibility: "public" });
  await publishNeeding(api, two, { name: "helper", requires: [`@${one.org.slug}/tool`] });
  const requires = [`@${two.org.slug}/helper`];
  for (const version of ["1.1.0", "1.2.0"]) {
    const refused = await publishNeeding(api, one, { name: "tool", version, requires });
    expect((await errorOf(refused))[1]).toBe("DEPENDENCY_CYCLE");
  }
  const definitions = ["1.3.0", "1.4.0"].map((version) => ({
    yaml: agentNeeding("tool", requires, version),
    visibility: "public",
  }));
  const batch = await write(api, "/batch", one, { body: { definitions, publish: true } });
  expect(batch.status).toBe(422);
});

test("a batch cannot close a cycle through an existing dependency between two of its lines", async () => {
  await using api = await openTestApp();
  const [one, two] = [await api.make.person(), await api.make.person()] as const;
  const visibility = "public";
  await publishAgent(api, one, { name: "part", visibility });
  await publishNeeding(api, one, { name: "tool", requires: ["part"] });
  await publishNeeding(api, two, { name: "helper", requires: [`@${one.org.slug}/tool`] });
  const definitions = [
    { yaml: agentNeeding("tool", ["part"], "1.1.0"), visibility },
    { yaml: agentNeeding("part", [`@${two.org.slug}/helper`], "1.1.0"), visibility },
  ];
  const batch = await write(api, "/batch", one, { body: { definitions, publish: true } });
  expect((await errorOf(batch))[1]).toBe("DEPENDENCY_CYCLE");
});

test("a cycle closed by another organization does not block a batch with a new line that depends on the cycle", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, mallory, { name: "helper", visibility: "public" });
  const requires = [`@${mallory.org.slug}/helper`];
  await publishAgent(api, victim, { name: "tool", version: "0.1.0", visibility: "public" });
  await publishNeeding(api, victim, { name: "tool", requires });
  const range = "0.1.0 || >=2.0.0";
  const attack = { name: "helper", version: "1.1.0", requires: [`@${victim.org.slug}/tool@${range}`] };
  expect((await publishNeeding(api, mallory, attack)).status).toBe(200);
  const definitions = [
    { yaml: agentNeeding("tool", requires, "2.0.0"), visibility: "public" },
    { yaml: agentNeeding("other", ["tool"]), visibility: "public" },
  ];
  const batch = await write(api, "/batch", victim, { body: { definitions, publish: true } });
  expect(batch.status).toBe(201);
});

test("an organization cannot close a cycle by changing the range of an existing dependency", async () => {
  await using api = await openTestApp();
  const [one, two] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, two, { name: "helper", visibility: "public" });
  const tool = (version: string, range: string) =>
    publishNeeding(api, one, { name: "tool", version, requires: [`@${two.org.slug}/helper@${range}`] });
  expect((await tool("1.0.0", "^1.0.0")).status).toBe(200);
  const requires = [`@${one.org.slug}/tool`];
  expect((await publishNeeding(api, two, { name: "helper", version: "2.0.0", requires })).status).toBe(200);
  expect((await errorOf(await tool("1.1.0", "^2.0.0")))[1]).toBe("DEPENDENCY_CYCLE");
  expect((await tool("1.1.1", "^1.0.0")).status).toBe(200);
});

test("a stranger's batch that references a hidden definition blocks no publication", async () => {
  await using api = await openTestApp();
  const [victim, mallory] = [await api.make.person(), await api.make.person()] as const;
  const requires = [`@${mallory.org.slug}/helper`];
  await publishAgent(api, mallory, { name: "helper", visibility: "public" });
  await publishNeeding(api, victim, { name: "secret", requires, visibility: "private" });
  const yaml = agentNeeding("helper", [`@${victim.org.slug}/secret`], "1.1.0");
  const definitions = [{ yaml, visibility: "public" }];
  const attack = await write(api, "/batch", mallory, { body: { definitions, publish: true } });
  expect(attack.status).toBe(201);
  expect((await publishNeeding(api, victim, { name: "secret", version: "1.0.1", requires })).status).toBe(
    200,
  );
});

test("a cycle across organizations is refused if the references could be resolved by their authors", async () => {
  await using api = await openTestApp();
  const [one, two] = [await api.make.person(), await api.make.person()] as const;
  await publishAgent(api, one, { name: "tool", visibility: "public" });
  await publishNeeding(api, two, { name: "helper", requires: [`@${one.org.slug}/tool`] });
  const closing = { name: "tool", version: "1.1.0", requires: [`@${two.org.slug}/helper`] };
  expect((await errorOf(await publishNeeding(api, one, closing))).slice(0, 2)).toEqual([
    ...[422, "DEPENDENCY_CYCLE"],
  ]);
});

test("the author's colleagues can resolve a reference once its target exists, but strangers cannot", async () => {
  await using api = await openTestApp();
  const [partner, author] = [await api.make.person(), await api.make.person()] as const;
  const colleague = await api.make.person({ org: author.org, role: "viewer" });
  const name = `@${partner.org.slug}/later`;
  await publishNeeding(api, author, { name: "user", requires: [name] });
  await publishAgent(api, partner, { name: "later", visibility: "public" });
  for (const caller of [{ key: author.key }, { key: colleague.key }]) {
    expect(await needs(api, "user", caller)).toEqual(["later@1.0.0"]);
    expect(await dependentsOf(api, "later", caller)).toEqual(["user@1.0.0"]);
  }
  for (const caller of [null, { key: partner.key }]) {
    expect(await needs(api, "user", caller)).toEqual([`no ${name}`]);
    expect(await dependentsOf(api, "later", caller)).toEqual([]);
  }
  // Publishing the next version resolves its references again.
  await publishNeeding(api, author, { name: "user", version: "1.1.0", requires: [name] });
  expect(await needs(api, "user", null)).toEqual(["later@1.0.0"]);
});
