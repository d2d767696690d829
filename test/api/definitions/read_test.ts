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
import { openTestApp } from "../../helpers/http/app.ts";

test("a definition can be read by name with or without version and organization, and with %40 for @", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const first = await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const second = await publishAgent(api, person, {
    name: "reviewer",
    version: "1.10.0",
    visibility: "public",
  });
  const third = await publishAgent(api, person, { name: "reviewer", version: "1.9.0", visibility: "public" });
  const { slug } = person.org;
  const paths: readonly [string, { id: string }][] = [
    ["/agent/reviewer", second],
    ["/agent/reviewer/", second],
    ["/agent/reviewer@1.0.0", first],
    ["/agent/reviewer%401.9.0", third],
    [`/agent/@${slug}/reviewer`, second],
    [`/agent/%40${slug}/reviewer@1.0.0`, first],
  ];
  for (const [path, { id }] of paths) {
    const found = await definitionOf(await ask(api, path, null));
    expect([path, found.id]).toEqual([path, id]);
    // The two later versions do not change the time of the line's first publication.
    expect(found.releasedAt).toBe(first.publishedAt);
  }
});

test("a definition named like a path segment can be read by @org/name", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  for (const name of ["versions", "diff", "publish", "translation"]) {
    const { id } = await publishAgent(api, person, { name, visibility: "public" });
    expect((await definitionOf(await ask(api, `/agent/@${person.org.slug}/${name}`, null))).id).toBe(id);
  }
});

test("an unknown definition returns 404 with its name, and an invalid name returns 400", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await makeDefinition(api.db.sql, person, { name: "old", status: "deprecated", visibility: "public" });
  const cases: readonly [string, number, unknown][] = [
    ["/agent/nobody", 404, "definition"],
    ["/agent/nobody@1.0.0", 404, "definition"],
    ["/command/old", 404, "definition"],
    ["/agent/old", 200, undefined],
    ["/agent/old@2.0.0", 404, "version"],
    ["/agent/@no-such-org/old", 404, "definition"],
    ["/agent/@%00/old", 400, undefined],
    ["/agent/Old", 400, undefined],
    ["/agent/old@1", 400, undefined],
    ["/agent/old@latest", 400, undefined],
    ["/robot/old", 400, undefined],
    [`/agent/${"x".repeat(101)}`, 400, undefined],
    ["/agent/old@1.0.0?includeYaml=maybe", 400, undefined],
  ];
  for (const [path, status, reason] of cases) {
    const response = await ask(api, path, null);
    const { error } = (await response.json()) as { error?: { details?: { reason?: string } } };
    expect([path, response.status, error?.details?.reason]).toEqual([path, status, reason as string]);
  }
});

test("the error for a misspelled name links to a search that finds the right definition", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "code-reviewer", visibility: "public" });
  const refused = await ask(api, "/agent/code-reviwer", null);
  const { error } = (await refused.json()) as { error: { message: string } };
  const [, path = ""] =
    /^Agent "code-reviwer" not found\. Search with GET (\S+)\.$/.exec(error.message) ?? [];
  const { data } = (await (await api.request(path)).json()) as { data: { definitions: { name: string }[] } };
  expect(data.definitions.map(({ name }) => name)).toEqual(["code-reviewer"]);
});

test("X-Org-Slug limits a read to one of the caller's organizations", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const other = await api.make.person();
  const theirs = await publishAgent(api, other, { name: "reviewer", visibility: "public" });
  const own = await publishAgent(api, person, { name: "reviewer" });
  const read = (caller: Parameters<typeof ask>[2], headers = {}) =>
    ask(api, "/agent/reviewer", caller, { headers });
  expect((await definitionOf(await read(null))).id).toBe(theirs.id);
  expect((await definitionOf(await read({ key: person.key }))).id).toBe(own.id);
  expect((await definitionOf(await read(person))).id).toBe(own.id);
  const personal = { key: person.key, org: person.personalOrg };
  expect((await errorOf(await read(personal)))[0]).toBe(404);
  const refused = async (response: Promise<Response>) => (await errorOf(await response)).slice(0, 2);
  expect(await refused(read({ key: person.key, org: other.org }))).toEqual([403, "ORG_ACCESS_DENIED"]);
  expect(await refused(read(null, { "x-org-slug": person.org.slug }))).toEqual([401, "UNAUTHORIZED"]);
  expect(await refused(read({ key: "ulr_wrong" }))).toEqual([401, "UNAUTHORIZED"]);
});

test("query parameters can omit texts, add references and return the canonical text", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "helper", version: "1.2.0" });
  const yaml = `# a comment\n${agentNeeding("reviewer", ["helper@^1.0.0", "nobody"])}`;
  await createAgent(api, person, { name: "reviewer", yaml });
  const read = async (query: string) =>
    (await definitionOf(await ask(api, `/agent/reviewer@1.0.0${query}`, person))) as Record<string, unknown>;
  const whole = await read("");
  expect([typeof whole["yaml"], typeof whole["runtimeMd"], "refs" in whole]).toEqual([
    "string",
    "string",
    false,
  ]);
  const less = await read("?includeYaml=false&includeRuntime=false");
  expect(["yaml" in less, "runtimeMd" in less]).toEqual([false, false]);
  const reference = { type: "agent", context: "dependencies.requires" };
  expect((await read("?includeRefs=true"))["refs"]).toEqual([
    { ...reference, name: "helper", range: "^1.0.0", resolvedVersion: "1.2.0" },
    { ...reference, name: "nobody", range: "latest", resolvedVersion: null },
  ]);
  const { yaml: text, normalized } = await read("?normalize=true");
  expect(text).not.toContain("# a comment");
  expect(Bun.YAML.parse(String(text))).toEqual(normalized);
  const wanting = await read("?normalize=true&includeYaml=false");
  expect(["yaml" in wanting, typeof wanting["normalized"]]).toEqual([false, "object"]);
});

test("a read with normalize reports why a document cannot be normalized", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const yaml = agentYaml("checks").replace("agent:", "workflow:");
  await write(api, "/workflow/checks", person, { body: { yaml } });
  const found = await definitionOf(await ask(api, "/workflow/checks@1.0.0?normalize=true", person));
  expect(found).toMatchObject({ yaml, normalized: null, normalizationError: expect.any(String) });
});

test("reads return a strong ETag, or 304 for a matching If-None-Match, and HEAD returns the same headers", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const read = (headers = {}, method = "GET", path = "/agent/reviewer") =>
    ask(api, path, null, { headers, method });
  const response = await read();
  const etag = response.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]+"$/);
  expect(response.headers.get("cache-control")).toBe("public, no-cache");
  const length = (await response.arrayBuffer()).byteLength;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await read({ "if-none-match": known });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
  }
  expect((await read({ "if-none-match": '"other"' })).status).toBe(200);
  const head = await read({}, "HEAD");
  const { headers } = head;
  expect([head.status, headers.get("etag"), headers.get("content-length"), await head.text()]).toEqual([
    200,
    etag,
    String(length),
    "",
  ]);
  expect((await read({}, "GET", "/agent/reviewer?includeYaml=false")).headers.get("etag")).not.toBe(etag);
  const own = await ask(api, "/agent/reviewer", { key: person.key });
  expect(own.headers.get("cache-control")).toBe("private, no-cache");
});

test("lists have a strong ETag that changes with their content", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  await publishAgent(api, person, { name: "reviewer", visibility: "public" });
  const list = (headers = {}) => ask(api, "", null, { headers });
  const etag = (await list()).headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]+"$/);
  expect((await list({ "if-none-match": etag })).status).toBe(304);
  await publishAgent(api, person, { name: "fixer", visibility: "public" });
  expect((await list({ "if-none-match": etag })).status).toBe(200);
});

test("a deprecated version returns its deprecation date and its successor", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const shown = { visibility: "public", status: "deprecated" } as const;
  await makeDefinition(api.db.sql, person, { name: "old", ...shown, successor: "young@2.0.0" });
  await makeDefinition(api.db.sql, person, { name: "alone", ...shown });
  const since = `@${Date.parse("2026-01-02T00:00:00.000Z") / 1000}`;
  const { publicUrl } = api.deps.config;
  const headersOf = async (name: string) => {
    const { headers } = await ask(api, `/agent/${name}@1.0.0`, null);
    return [headers.get("deprecation"), headers.get("link")];
  };
  expect(await headersOf("old")).toEqual([
    since,
    `<${publicUrl}/api/v1/definitions/agent/@${person.org.slug}/young@2.0.0>; rel="successor-version"`,
  ]);
  expect(await headersOf(`@${person.org.slug}/old`)).toEqual([
    since,
    `<${publicUrl}/api/v1/definitions/agent/@${person.org.slug}/young@2.0.0>; rel="successor-version"`,
  ]);
  expect(await headersOf("alone")).toEqual([since, null]);
});

test("a read returns the same fields as the write, and a list returns the leading fields in the same order", async () => {
  await using api = await openTestApp();
  const person = await api.make.person();
  const name = 'a "quoted" \\ name\tand \u{1f980}';
  const provenance = { authorshipType: "automated", dialecticRounds: 3, optimizationRunId: name };
  await createAgent(api, person, { name: "reviewer", visibility: "public", provenance });
  const path = "/agent/reviewer@1.0.0";
  const written = await definitionOf(await write(api, `${path}/publish`, person));
  const read = await definitionOf(await ask(api, path, null));
  expect(read).toEqual(written);
  expect(Object.keys(read)).toEqual(Object.keys(written));
  expect(read.provenance).toMatchObject(provenance);
  const list = (await (await ask(api, "", null)).json()) as { data: { definitions: object[] } };
  const [item = {}] = list.data.definitions;
  expect(Object.entries(item)).toEqual(Object.entries(read).slice(0, Object.keys(item).length));
  const { yaml, runtimeMd, ...others } = read;
  const short = await ask(api, `${path}?includeYaml=false&includeRuntime=false`, null);
  expect(Object.entries(await definitionOf(short))).toEqual(Object.entries(others));
  const withYaml = await definitionOf(await ask(api, `${path}?includeRuntime=false`, null));
  expect(withYaml).toEqual({ ...others, yaml } as typeof read);
});
