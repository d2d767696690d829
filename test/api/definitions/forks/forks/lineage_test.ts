import { expect, test } from "bun:test";
import {
  ask,
  type Caller,
  createAgent,
  definitionOf,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../../../helpers/definitions/definitions.ts";
import { makeFork } from "../../../../helpers/definitions/forks.ts";
import { openTestApp, type TestApp } from "../../../../helpers/http/app.ts";

interface Lineage {
  isFork: boolean;
  fork: Record<string, unknown> | null;
  source: Record<string, unknown> | null;
  chain: Record<string, unknown>[];
}

async function lineageOf(api: TestApp, path: string, caller: Caller | null): Promise<Lineage> {
  const response = await ask(api, `/agent/${path}/lineage`, caller);
  expect([path, response.status]).toEqual([path, 200]);
  return ((await response.json()) as { data: Lineage }).data;
}

test("a line that is not a fork has no lineage", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const none = { isFork: false, fork: null, source: null, chain: [] };
  expect(await lineageOf(api, "reviewer", null)).toStrictEqual(none);
  expect(await lineageOf(api, "reviewer@1.0.0", person)).toStrictEqual(none);
});

test("a fork of a fork has a lineage with both sources, for the draft and for every later version", async () => {
  await using api = await openTestApp();
  const first = await api.make.person();
  const second = await api.make.person();
  const third = await api.make.person();
  const root = await publishAgent(api, first, { name: "reviewer", version: "2.1.0", visibility: "public" });
  await makeFork(api, second, "/agent/reviewer", { name: "second-reader", visibility: "public" });
  await write(api, "/agent/second-reader@1.0.0/publish", second);
  await makeFork(api, third, "/agent/second-reader", { name: "third-reader" });
  const lineage = await lineageOf(api, "third-reader", third);
  const secondReader = {
    id: lineage.fork?.["sourceDefinitionId"],
    type: "agent",
    name: "second-reader",
    version: "1.0.0",
    authorId: second.user.id,
    orgId: second.org.id,
  };
  expect(lineage).toStrictEqual({
    isFork: true,
    fork: {
      id: expect.any(String),
      definitionId: expect.any(String),
      sourceDefinitionId: expect.any(String),
      forkedAt: expect.any(String),
    },
    source: secondReader,
    chain: [
      {
        sourceType: "agent",
        sourceName: "second-reader",
        sourceVersion: "1.0.0",
        source: secondReader,
        sourceAvailable: true,
      },
      {
        sourceType: "agent",
        sourceName: "reviewer",
        sourceVersion: "2.1.0",
        source: {
          id: root.id,
          type: "agent",
          name: "reviewer",
          version: "2.1.0",
          authorId: first.user.id,
          orgId: first.org.id,
        },
        sourceAvailable: true,
      },
    ],
  });
  await createAgent(api, third, { name: "third-reader", version: "2.0.0" });
  expect(await lineageOf(api, "third-reader@2.0.0", third)).toEqual(lineage);
});

test("a lineage remains after its source is deleted", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await createAgent(api, person, { name: "sketch" });
  await makeFork(api, person, "/agent/sketch@1.0.0", { name: "mine" });
  await makeFork(api, person, "/agent/mine@1.0.0", { name: "mine-too" });
  const before = await lineageOf(api, "mine", person);
  expect((await write(api, "/agent/sketch@1.0.0", person, { method: "DELETE" })).status).toBe(200);
  const gone = {
    sourceType: "agent",
    sourceName: "sketch",
    sourceVersion: "1.0.0",
    source: null,
    sourceAvailable: false,
  };
  expect(await lineageOf(api, "mine", person)).toStrictEqual({
    isFork: true,
    fork: before.fork,
    source: null,
    chain: [gone],
  });
  // A new line with the same name does not become the source of these forks.
  await createAgent(api, person, { name: "sketch" });
  expect((await lineageOf(api, "mine-too", person)).chain).toMatchObject([{ sourceName: "mine" }, gone]);
  const response = await ask(api, "/agent/sketch/forks", person);
  expect(await response.json()).toEqual({ data: { forks: [], totalForks: 0 } });
});

test("a lineage hides a source that the caller cannot see", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const stranger = await api.make.person();
  const root = await publishAgent(api, person, { name: "root", visibility: "public" });
  const hidden = await makeFork(api, person, "/agent/root", { name: "topsecret" });
  await makeFork(api, person, "/agent/topsecret@1.0.0", { name: "shown", visibility: "public" });
  await write(api, "/agent/shown@1.0.0/publish", person);
  const own = await lineageOf(api, "shown", person);
  expect(own.chain).toMatchObject([
    { sourceName: "topsecret", sourceAvailable: true },
    { sourceName: "root", sourceAvailable: true },
  ]);
  expect(own.fork?.["sourceDefinitionId"]).toBe(hidden.definition.id);
  for (const caller of [null, { key: stranger.key }]) {
    expect(await lineageOf(api, "shown", caller)).toStrictEqual({
      isFork: true,
      fork: { ...own.fork, sourceDefinitionId: null },
      source: null,
      chain: [
        {
          sourceType: "agent",
          sourceName: null,
          sourceVersion: null,
          source: null,
          sourceAvailable: false,
        },
      ],
    });
    // No other endpoint shows the source either.
    for (const path of [
      "/agent/shown",
      "/agent/shown@1.0.0?normalize=true",
      "/agent/shown/versions",
      "?search=shown",
      "?type=agent",
    ]) {
      const text = await (await ask(api, path, caller)).text();
      expect([path, text.includes(hidden.definition.id), text.includes("topsecret")]).toEqual([
        path,
        false,
        false,
      ]);
    }
    expect((await definitionOf(await ask(api, "/agent/shown", caller))).forkedFromId).toBeNull();
  }
  for (const path of ["/agent/shown", "/agent/shown@1.0.0"]) {
    expect((await definitionOf(await ask(api, path, person))).forkedFromId).toBe(hidden.definition.id);
  }
  const listed = await ask(api, "?search=shown", { key: person.key });
  expect(await listed.json()).toMatchObject({
    data: { definitions: [{ name: "shown", forkedFromId: hidden.definition.id }] },
  });
  // The source is public, so everyone can see the origin of this fork.
  const open = await makeFork(api, stranger, "/agent/root", { name: "open", visibility: "public" });
  await write(api, "/agent/open@1.0.0/publish", stranger);
  expect((await definitionOf(await ask(api, "/agent/open", null))).forkedFromId).toBe(root.id);
  expect((await lineageOf(api, "open", null)).fork?.["sourceDefinitionId"]).toBe(open.source["id"]);
});

test("only members of a deleted draft's organization can see its name", async () => {
  await using api = await openTestApp();
  const author = await api.make.person();
  const colleague = await api.make.person({ org: author.org, role: "viewer" });
  const stranger = await api.make.person();
  await publishAgent(api, author, { name: "root", visibility: "public" });
  const draft = await createAgent(api, author, { name: "root", version: "2.0.0", visibility: "public" });
  const hidden = await createAgent(api, author, { name: "topsecret" });
  // The forks are created in another organization, so that only membership in the source's organization matters.
  const ownSpace = { key: author.key, org: author.personalOrg };
  for (const [source, name] of [
    ["topsecret@1.0.0", "shown"],
    ["root@2.0.0", "next"],
    ["shown@1.0.0", "third"],
  ]) {
    await makeFork(api, ownSpace, `/agent/${source}`, { name: `${name}`, visibility: "public" });
    await write(api, `/agent/${name}@1.0.0/publish`, ownSpace);
  }
  const bound = await api.make.key({ userId: author.user.id, orgId: author.personalOrg.id });
  const callers = [{ key: author.key }, { key: colleague.key }, { key: stranger.key }, null, bound];
  const read = (path: string) =>
    Promise.all(callers.map(async (caller) => (await ask(api, path, caller)).json()));
  const look = async () => ({
    shown: await read("/agent/shown/lineage"),
    third: await read("/agent/third/lineage"),
    forks: await read("/agent/root/forks"),
  });
  const before = await look();
  for (const path of ["topsecret@1.0.0", "root@2.0.0"]) {
    expect((await write(api, `/agent/${path}`, author, { method: "DELETE" })).status).toBe(200);
  }
  const after = await look();
  const mentions = (responses: unknown[], text: string) =>
    responses.map((response) => JSON.stringify(response).includes(text));
  const members = [true, true, false, false, false];
  for (const seen of [before, after]) {
    for (const text of ["topsecret", hidden.id]) expect(mentions(seen.shown, text)).toEqual(members);
    expect(mentions(seen.third, "topsecret")).toEqual(members);
    expect(mentions(seen.forks, "next")).toEqual([true, true, true, true, true]);
    expect(mentions(seen.forks, draft.id)).toEqual(members);
  }
  // The deletion changes no response for callers without access to the source's organization.
  expect(after.shown.slice(2)).toEqual(before.shown.slice(2));
  expect(after.forks.slice(2)).toEqual(before.forks.slice(2));
  expect(after.shown[1]).toMatchObject({
    data: { source: null, chain: [{ sourceName: "topsecret", sourceVersion: "1.0.0", source: null }] },
  });
});

test("a list of forks does not reveal hidden source versions", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "root", visibility: "public" });
  const hidden = await publishAgent(api, person, { name: "root", version: "2.0.0", visibility: "private" });
  await makeFork(api, person, "/agent/root@2.0.0", { name: "fork", visibility: "public" });
  await write(api, "/agent/fork@1.0.0/publish", person);
  const sources = async (caller: Caller | null) => {
    const { data } = (await (await ask(api, "/agent/root/forks", caller)).json()) as {
      data: { forks: { fork: { sourceDefinitionId: string | null } }[] };
    };
    return data.forks.map(({ fork }) => fork.sourceDefinitionId);
  };
  expect(await sources(person)).toEqual([hidden.id]);
  expect(await sources(null)).toEqual([null]);
});

test("a lineage has at most a hundred steps", async () => {
  await using api = await openTestApp();
  const { sql } = api.db;
  const person = await api.make.person();
  const published = { status: "published", visibility: "public" } as const;
  let source = {
    ...(await makeDefinition(sql, person, { name: "reader-0", ...published })),
    name: "reader-0",
  };
  for (let step = 1; step <= 120; step += 1) {
    const name = `reader-${step}`;
    const made = await makeDefinition(sql, person, { name, ...published });
    await sql`
      insert into definition_forks (
        line_id, definition_id, source_line_id, source_definition_id, source_org_id, source_type, source_name,
        source_version, forked_by
      )
      values (
        ${made.lineId}, ${made.id}, ${source.lineId}, ${source.id}, ${person.org.id}, 'agent', ${source.name}, '1.0.0',
        ${person.user.id}
      )`;
    source = { ...made, name };
  }
  const namesOf = async (name: string) =>
    (await lineageOf(api, name, null)).chain.map(({ sourceName }) => sourceName);
  const back = (from: number, steps: number) =>
    Array.from({ length: steps }, (_, step) => `reader-${from - 1 - step}`);
  expect(await namesOf("reader-60")).toEqual(back(60, 60));
  expect(await namesOf("reader-120")).toEqual(back(120, 100));
});

test("requests for the lineage or forks of a missing or hidden definition are refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const stranger = await api.make.person();
  await createAgent(api, person, { name: "sketch" });
  const cases: readonly [string, Caller | null, number, string][] = [
    ["nobody", null, 404, "NOT_FOUND"],
    ["sketch", null, 404, "NOT_FOUND"],
    ["sketch@1.0.0", stranger, 404, "NOT_FOUND"],
    ["sketch@9.0.0", person, 404, "NOT_FOUND"],
    ["Sketch", person, 400, "VALIDATION_ERROR"],
    ["sketch", { key: stranger.key, org: person.org }, 403, "ORG_ACCESS_DENIED"],
    ["sketch", { key: "ulr_wrong" }, 401, "UNAUTHORIZED"],
  ];
  for (const path of ["lineage", "forks"]) {
    for (const [name, caller, ...expected] of cases) {
      const refusal = await errorOf(await ask(api, `/agent/${name}/${path}`, caller));
      expect([path, name, ...refusal.slice(0, 2)]).toEqual([path, name, ...expected]);
    }
  }
});
