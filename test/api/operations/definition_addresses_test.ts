/** Every form of a definition's address, on every path. */
import { expect, test } from "bun:test";
import {
  agentNeeding,
  agentYaml,
  ask,
  createAgent,
  definitionOf,
  errorOf,
  makeDefinition,
  publishAgent,
  write,
} from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";

/** The subpaths of a definition that support GET. */
const READS = [
  "",
  "/versions",
  "/diff?from=3.0.0&to=3.1.0",
  "/forkable",
  "/lineage",
  "/forks",
  "/dependencies",
  "/dependents",
  "/executions",
];

/** Creates `reviewer` in two organizations. The first publishes 1.0.0, the second 3.0.0 and 3.1.0. */
async function openTwoLines() {
  const api = await openTestApp();
  const first = await api.make.person();
  const second = await api.make.person();
  await publishAgent(api, first, { name: "reviewer", visibility: "public" });
  await publishAgent(api, second, { name: "reviewer", version: "3.0.0", visibility: "public" });
  const newest = await publishAgent(api, second, {
    name: "reviewer",
    version: "3.1.0",
    visibility: "public",
  });
  return { api, first, second, newest };
}

async function textOf(api: TestApp, path: string): Promise<string> {
  const response = await ask(api, path, null);
  const text = await response.text();
  return response.status === 200 ? text : `${path}: ${response.status} ${text}`;
}

test("every path accepts @org/name, encoded or not, and an id", async () => {
  const { api, second, newest } = await openTwoLines();
  await using _ = api;
  const { slug } = second.org;
  for (const below of READS) {
    const expected = await textOf(api, `/agent/@${slug}/reviewer${below}`);
    expect([below, expected.startsWith("{")]).toEqual([below, true]);
    const isWhole = below === "/versions" || below.startsWith("/diff");
    const version = isWhole ? "" : "@3.1.0";
    for (const name of [
      `%40${slug}/reviewer${version}`,
      `@${slug}%2Freviewer${version}`,
      `%40${slug}%2freviewer${version.replace("@", "%40")}`,
      newest.id,
      newest.id.toUpperCase(),
    ]) {
      expect([name, below, await textOf(api, `/agent/${name}${below}`)]).toEqual([name, below, expected]);
    }
  }
});

test("a bare name with a version resolves to a definition that has this version", async () => {
  const { api, second, newest } = await openTwoLines();
  await using _ = api;
  expect((await definitionOf(await ask(api, "/agent/reviewer", null))).version).toBe("1.0.0");
  for (const below of [
    "",
    "/forkable",
    "/lineage",
    "/forks",
    "/dependencies",
    "/dependents",
    "/executions",
  ]) {
    const byName = await textOf(api, `/agent/reviewer@3.1.0${below}`);
    expect(byName).toBe(await textOf(api, `/agent/@${second.org.slug}/reviewer@3.1.0${below}`));
  }
  const { id } = await definitionOf(await ask(api, "/agent/reviewer@3.1.0", null));
  expect(id).toBe(newest.id);
  // Both versions of a comparison must belong to the same organization's definition.
  expect((await ask(api, "/agent/reviewer/diff?from=3.0.0&to=3.1.0", null)).status).toBe(200);
  const mixed = await ask(api, "/agent/reviewer/diff?from=1.0.0&to=3.1.0", null);
  expect((await errorOf(mixed)).slice(0, 2)).toEqual([404, "NOT_FOUND"]);
});

test("an id works even for an archived version, but only under its type and for callers who may see the version", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const stranger = await api.make.person();
  const make = (name: string, columns: object) =>
    makeDefinition(api.db.sql, person, { name, status: "published", visibility: "public", ...columns });
  const archived = await make("old", { status: "archived" });
  const hidden = await make("secret", { visibility: "private" });
  expect((await definitionOf(await ask(api, `/agent/${archived.id}`, null))).status).toBe("archived");
  expect((await ask(api, `/agent/${hidden.id}`, { key: person.key })).status).toBe(200);
  const ofNothing = crypto.randomUUID();
  const seen = async (id: string, below: string) => {
    const response = await ask(api, `/agent/${id}${below}`, stranger, {
      headers: { "x-request-id": "same" },
    });
    return [response.status, (await response.text()).replaceAll(id, "<id>")];
  };
  for (const below of ["", "/versions", "/forkable", "/lineage", "/forks", "/dependencies", "/dependents"]) {
    expect(await seen(hidden.id, below)).toEqual(await seen(ofNothing, below));
  }
  for (const [path, status] of [
    [`/command/${archived.id}`, 404],
    [`/agent/${archived.id}@1.0.0`, 400],
    [`/agent/@${person.org.slug}/${archived.id}`, 400],
  ] as const) {
    expect([path, (await ask(api, path, null)).status]).toEqual([path, status]);
  }
  const byHeader = (org: { slug: string }) => ask(api, `/agent/${archived.id}`, { key: person.key, org });
  expect((await byHeader(person.org)).status).toBe(200);
  expect((await byHeader(person.personalOrg)).status).toBe(404);
  expect((await write(api, `/agent/${archived.id}/archive`, person)).status).toBe(400);
});

test("X-Org-Slug and the path must not name different organizations", async () => {
  const { api, first, second } = await openTwoLines();
  await using _ = api;
  const read = (slug: string, below = "") =>
    ask(api, `/agent/@${slug}/reviewer${below}`, { key: first.key, org: first.org });
  for (const below of READS.filter((below) => !/diff|forkable/.test(below))) {
    expect((await read(first.org.slug, below)).status).toBe(200);
    for (const slug of [second.org.slug, "no-such-org"]) {
      expect((await errorOf(await read(slug, below))).slice(0, 2)).toEqual([403, "ORG_ACCESS_DENIED"]);
    }
  }
  // For a fork, the header names the target organization.
  expect((await read(second.org.slug, "/forkable")).status).toBe(200);
});

test("a fork accepts @org/name and an id as its source", async () => {
  const { api, second, newest } = await openTwoLines();
  await using _ = api;
  const person = await api.make.person();
  for (const [index, source] of [`@${second.org.slug}/reviewer`, newest.id].entries()) {
    const response = await write(api, `/agent/${source}/fork`, person, { body: { name: `mine-${index}` } });
    const { data } = (await response.json()) as { data?: { source: { id: string } } };
    expect([response.status, data?.source.id]).toEqual([201, newest.id]);
  }
});

test("names may start with a digit, but malformed names of forks and new definitions are refused", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const published = await publishAgent(api, person, { name: "2fa", visibility: "public" });
  expect((await definitionOf(await ask(api, "/agent/2fa", null))).id).toBe(published.id);
  const yaml = agentNeeding("user", ["2fa@^1.0.0"]);
  await publishAgent(api, person, { name: "user", yaml, visibility: "public" });
  const tree = await (await ask(api, "/agent/user/dependencies", null)).json();
  expect(tree).toMatchObject({ data: { flat: [{ name: "2fa" }], unresolved: [] } });
  for (const name of ["2fb", "-a", "a-"]) {
    const response = await write(api, "/agent/2fa/fork", person, { body: { name } });
    expect([name, response.status]).toEqual([name, 400]);
  }
  for (const name of ["-a", "a-", "A", "a_b", crypto.randomUUID()]) {
    const response = await write(api, `/agent/${name}`, person, { body: { yaml: agentYaml(name) } });
    expect([name, response.status]).toEqual([name, 400]);
  }
});

test("a successor may be in another organization, and the Link header points to that organization", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const { slug } = person.org;
  const link = async (path: string) => (await ask(api, path, null)).headers.get("link");
  const base = "http://localhost:3000/api/v1/definitions/agent";
  const cases = [
    ["next", `${base}/@${slug}/next`],
    ["@acme/next@2.0.0", `${base}/@acme/next@2.0.0`],
  ] as const;
  for (const [index, [successor, qualified]] of cases.entries()) {
    const name = `old-${index}`;
    const { id } = await publishAgent(api, person, { name, visibility: "public" });
    const body = { reason: "Replaced", successor };
    const deprecated = await write(
      api,
      `/agent/@${slug}/${name}@1.0.0/deprecate`,
      { key: person.key },
      { body },
    );
    expect((await definitionOf(deprecated)).successor).toBe(successor);
    // Even for a bare name, the link contains the organization, because the successor's bare name may resolve to another
    // organization's definition.
    for (const address of [`${name}@1.0.0`, `@${slug}/${name}@1.0.0`, id]) {
      expect(await link(`/agent/${address}`)).toBe(`<${qualified}>; rel="successor-version"`);
    }
  }
  const { name, version } = await createAgent(api, person, { name: "sketch" });
  await write(api, `/agent/${name}@${version}/publish`, person);
  for (const successor of ["2fa", "@acme/2fa", "@Acme/next", "@acme/", "next@1", `@${slug}/sketch@1.0.0`]) {
    const body = { reason: "x", successor };
    const response = await write(api, `/agent/sketch@1.0.0/deprecate`, person, { body });
    expect([successor, response.status]).toEqual([successor, 400]);
  }
});
