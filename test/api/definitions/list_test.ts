import { expect, test } from "bun:test";
import { LISTS_WAITING_MAX } from "../../../api/turns.ts";
import { list, listed, makeVersion, type VersionColumns } from "../../helpers/definitions/definition_list.ts";
import { ask, errorOf } from "../../helpers/definitions/definitions.ts";
import { openTestApp, type TestApp } from "../../helpers/http/app.ts";
import { waitFor } from "../../helpers/wait_for.ts";

async function openRegistry() {
  const api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 100_000 } });
  const person = await api.make.person();
  const owner = { orgId: person.org.id, authorId: person.user.id };
  return {
    api,
    person,
    make: (columns: Omit<VersionColumns, "orgId" | "authorId"> & Partial<VersionColumns>) =>
      makeVersion(api.db.sql, { ...owner, ...columns }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

test("a list item has exactly the documented fields", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  const id = await make({ name: "reviewer", tags: ["a", "b"], displayName: "Reviewer", executionCount: 3 });
  expect(await list(api, "")).toEqual({
    definitions: [
      {
        id,
        type: "agent",
        name: "reviewer",
        version: "1.0.0",
        status: "published",
        domain: "software",
        subdomain: null,
        agentType: null,
        hash: `sha256:${"0".repeat(64)}`,
        promptHash: null,
        displayName: "Reviewer",
        description: "",
        author: null,
        authorshipType: null,
        tags: ["a", "b"],
        authorId: person.user.id,
        orgId: person.org.id,
        tier: "org",
        visibility: "public",
        createdAt: "2026-01-02T00:00:00.000Z",
        updatedAt: "2026-01-02T00:00:00.000Z",
        publishedAt: "2026-01-02T00:00:00.000Z",
        executionCount: 3,
        uniqueExecutionCount: 0,
        forkCount: 0,
        starCount: 0,
        forkedFromId: null,
        quarantinedAt: null,
        quarantineReason: null,
        namespace: `@${person.org.slug}/reviewer`,
        minSubscription: "free",
        catalogueTier: null,
        releasedAt: null,
      },
    ],
    total: 1,
    limit: 50,
    offset: 0,
    hasMore: false,
  });
});

test("every filter selects its matches, and filters can be combined", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  const other = await api.make.person();
  await make({ name: "plain" });
  await make({ name: "a-command", type: "command" });
  await make({ name: "old", status: "deprecated" });
  await make({ name: "checker", agentType: "validator", domain: "security" });
  await make({ name: "lawyer", domain: "legal", tags: ["law", "contract"] });
  await make({ name: "own", tier: "user", tags: ["law"] });
  await make({ name: "of-other", authorId: other.user.id });
  await make({ name: "fork", isFork: true, tags: ["code", 'it\'s "quoted", {odd}'] });
  await make({ name: "machine", authorshipType: "automated" });
  await make({ name: "hidden", visibility: "private" });
  const expected: readonly [string, string[]][] = [
    ["type=command", ["a-command"]],
    ["status=deprecated", ["old"]],
    ["status=archived", []],
    ["agentType=validator", ["checker"]],
    ["domain=legal", ["lawyer"]],
    ["tier=user", ["own"]],
    ["visibility=private", ["hidden"]],
    [`authorId=${other.user.id.toUpperCase()}`, ["of-other"]],
    [`organization=${person.org.slug}&domain=legal`, ["lawyer"]],
    [`organization=${person.personalOrg.slug}`, []],
    ["organization=no-such-organization", []],
    [`authorId=${crypto.randomUUID()}`, []],
    ["isFork=true", ["fork"]],
    ["authorshipType=automated", ["machine"]],
    ["tag=law", ["lawyer", "own"]],
    ["tag=contract&tag=code&tag=none", ["fork", "lawyer"]],
    ["tag=Law", []],
    [`tag=${encodeURIComponent('it\'s "quoted", {odd}')}`, ["fork"]],
    ["tag=law&domain=legal", ["lawyer"]],
    ["agentType=validator&domain=legal", []],
    [
      "isFork=false&type=agent&tier=org&domain=software&status=published&visibility=public",
      ["machine", "of-other", "plain"],
    ],
  ];
  for (const [query, names] of expected) {
    const found = await list(api, `${query}&sortBy=name&sortOrder=asc`, person);
    expect([query, found.definitions.map(({ name }) => name)]).toEqual([query, names]);
    expect([query, found.total]).toEqual([query, names.length]);
  }
});

test("lists can be sorted by each column in either direction and are newest first by default", async () => {
  await using registry = await openRegistry();
  const { api, make } = registry;
  const day = (number: number): string => `2026-03-0${number}T00:00:00.000Z`;
  await make({ name: "b", createdAt: day(1), updatedAt: day(9), executionCount: 5, uniqueExecutionCount: 1 });
  await make({
    name: "a-z",
    createdAt: day(2),
    updatedAt: day(8),
    executionCount: 4,
    uniqueExecutionCount: 4,
  });
  await make({
    name: "ab",
    createdAt: day(3),
    updatedAt: day(7),
    executionCount: 9,
    uniqueExecutionCount: 2,
  });
  const orders: readonly [string, string][] = [
    ["", "ab a-z b"],
    ["sortOrder=asc", "b a-z ab"],
    ["sortBy=createdAt", "ab a-z b"],
    ["sortBy=name", "b ab a-z"],
    ["sortBy=name&sortOrder=asc", "a-z ab b"],
    ["sortBy=updatedAt", "b a-z ab"],
    ["sortBy=executionCount", "ab b a-z"],
    ["sortBy=uniqueExecutionCount&sortOrder=asc", "b ab a-z"],
  ];
  for (const [query, names] of orders) {
    const found = (await list(api, query)).definitions.map(({ name }) => name);
    expect([query, found.join(" ")]).toEqual([query, names]);
  }
});

test("all pages together list each definition once, even if all sort keys are equal", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  for (let number = 0; number < 23; number += 1) {
    const org = number % 2 === 0 ? person.org : person.personalOrg;
    await make({ name: `n-${number >> 1}`, orgId: org.id });
  }
  for (const sortBy of ["name", "createdAt", "updatedAt", "executionCount", "uniqueExecutionCount"]) {
    for (const search of ["", "&search=n"]) {
      const seen: string[] = [];
      for (let offset = 0; offset < 23; offset += 5) {
        const page = await list(api, `sortBy=${sortBy}${search}&limit=5&offset=${offset}`);
        expect([page.total, page.limit, page.offset, page.hasMore]).toEqual([23, 5, offset, offset + 5 < 23]);
        seen.push(...page.definitions.map(({ id }) => id));
      }
      expect([seen.length, new Set(seen).size]).toEqual([23, 23]);
    }
  }
  expect(await list(api, "offset=1000")).toMatchObject({ definitions: [], total: 23, hasMore: false });
});

test("only members see drafts, private and unlisted versions, and lists never contain archived versions", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  const outsider = await api.make.person();
  const bound = await api.make.key({ userId: person.user.id, orgId: person.org.id });
  const boundElsewhere = await api.make.key({ userId: person.user.id, orgId: person.personalOrg.id });
  for (const status of ["draft", "published", "deprecated", "archived"] as const) {
    for (const visibility of ["private", "unlisted", "public"] as const) {
      await make({ name: `${status}-${visibility}`, status, visibility });
    }
  }
  await make({ name: "mine", orgId: person.personalOrg.id, visibility: "private" });
  const open = ["deprecated-public@1.0.0", "published-public@1.0.0"];
  const ofOrg = ["deprecated", "draft", "published"].flatMap((status) =>
    ["private", "public", "unlisted"].map((visibility) => `${status}-${visibility}@1.0.0`),
  );
  const all = "sortBy=name&sortOrder=asc";
  for (const query of [all, `${all}&latestOnly=false`, `${all}&search=d`]) {
    const isSearch = query.includes("search");
    const expected = (names: string[]): string[] =>
      isSearch ? names.filter((name) => /(^|-)d/.test(name)) : names;
    expect(await listed(api, query)).toEqual(expected(open));
    expect(await listed(api, query, { key: outsider.key })).toEqual(expected(open));
    expect(await listed(api, query, { key: person.key })).toEqual(expected([...ofOrg, "mine@1.0.0"].sort()));
    expect(await listed(api, query, { key: bound.key })).toEqual(expected(ofOrg));
    expect(await listed(api, query, { key: boundElsewhere.key })).toEqual(
      expected([...open, "mine@1.0.0"].sort()),
    );
    expect(await listed(api, query, person)).toEqual(expected(ofOrg));
    expect(await listed(api, query, { key: person.key, org: person.personalOrg })).toEqual(
      expected(["mine@1.0.0"]),
    );
  }
  const ofThis = `${all}&organization=${person.org.slug}`;
  expect(await listed(api, ofThis)).toEqual(open);
  expect(await listed(api, ofThis, { key: outsider.key })).toEqual(open);
  expect(await listed(api, ofThis, { key: boundElsewhere.key })).toEqual(open);
  expect(await listed(api, ofThis, { key: person.key })).toEqual(ofOrg);
  expect(await listed(api, ofThis, { key: person.key, org: person.personalOrg })).toEqual([]);
  expect(await errorOf(await ask(api, "", { key: outsider.key, org: person.org }))).toEqual([
    403,
    "ORG_ACCESS_DENIED",
  ]);
  expect((await ask(api, "", null, { headers: { "x-org-slug": person.org.slug } })).status).toBe(401);
});

test("latestOnly selects the highest version by visibility and status before other filters apply", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  await make({ name: "line", version: "1.9.0", status: "deprecated", domain: "legal" });
  await make({ name: "line", version: "1.10.0", domain: "security" });
  await make({ name: "line", version: "2.0.0", visibility: "unlisted", domain: "medical" });
  await make({ name: "line", version: "3.0.0", status: "draft", domain: "career" });
  await make({ name: "line", version: "4.0.0", status: "archived" });
  const member = { key: person.key };
  const expected: readonly [string, string[], string[]][] = [
    ["", ["1.10.0"], ["3.0.0"]],
    ["status=published", ["1.10.0"], ["2.0.0"]],
    ["status=deprecated", ["1.9.0"], ["1.9.0"]],
    ["status=draft", [], ["3.0.0"]],
    ["domain=security", ["1.10.0"], []],
    ["domain=legal", [], []],
    ["domain=career", [], ["3.0.0"]],
    ["domain=medical&status=published", [], ["2.0.0"]],
    ["latestOnly=false&sortBy=name", ["1.10.0", "1.9.0"], ["1.10.0", "1.9.0", "2.0.0", "3.0.0"]],
    ["latestOnly=false&domain=legal", ["1.9.0"], ["1.9.0"]],
    ["latestOnly=false&status=published", ["1.10.0"], ["1.10.0", "2.0.0"]],
  ];
  for (const [query, anyone, members] of expected) {
    const versions = async (caller: typeof member | null): Promise<string[]> =>
      (await list(api, query, caller)).definitions.map(({ version }) => version).sort();
    expect([query, await versions(null)]).toEqual([query, anyone]);
    expect([query, await versions(member)]).toEqual([query, members]);
  }
});

test("publishedFirst lists the version that each name resolves to, and shows members its latest draft", async () => {
  await using registry = await openRegistry();
  const { api, person, make } = registry;
  await make({ name: "grown", displayName: "Old title" });
  await make({ name: "grown", version: "1.1.0", status: "draft", displayName: "New title" });
  await make({ name: "grown", version: "1.2.0", status: "draft" });
  await make({ name: "ended", status: "deprecated" });
  await make({ name: "ended", version: "2.0.0", status: "draft" });
  await make({ name: "fixed", version: "1.0.0" });
  await make({ name: "fixed", version: "1.1.0", status: "deprecated" });
  await make({ name: "idea", version: "0.1.0", status: "draft" });
  await make({ name: "hidden", visibility: "private" });
  const read = async (query: string, caller: { key: string } | null) => {
    const { definitions, total } = await list(api, `sortBy=name&sortOrder=asc&${query}`, caller);
    expect(total).toBe(definitions.length);
    return definitions.map(({ name, version, draftVersion }) => `${name}@${version} ${draftVersion}`);
  };
  const member = { key: person.key };
  const first = [
    ...["ended@1.0.0 2.0.0", "fixed@1.0.0 null", "grown@1.0.0 1.2.0", "hidden@1.0.0 null"],
    "idea@0.1.0 0.1.0",
  ];
  expect(await read("publishedFirst=true", member)).toEqual(first);
  // Anonymous callers do not see drafts.
  expect(await read("publishedFirst=true", null)).toEqual([
    ...["ended@1.0.0 null", "fixed@1.1.0 null", "grown@1.0.0 null"],
  ]);
  expect(await read("publishedFirst=true&search=old+title", member)).toEqual(["grown@1.0.0 1.2.0"]);
  expect(await read("publishedFirst=true&search=old+titel", member)).toEqual(["grown@1.0.0 1.2.0"]);
  expect(await read("publishedFirst=true&search=new+title", member)).toEqual([]);
  expect(await read("publishedFirst=true&status=draft", member)).toEqual([
    ...["ended@2.0.0 2.0.0", "grown@1.2.0 1.2.0", "idea@0.1.0 0.1.0"],
  ]);
  expect(await read("search=old+title", member)).toEqual([]);
  expect(await read("search=new+title&latestOnly=false", member)).toEqual(["grown@1.1.0 undefined"]);
});

test("lists show the current values of changed rows and omit deleted rows", async () => {
  await using registry = await openRegistry();
  const { api, make } = registry;
  const { sql } = api.db;
  const first = await make({ name: "line", description: "about apples" });
  const draft = await make({ name: "line", version: "2.0.0", status: "draft", description: "about pears" });
  expect(await listed(api, "search=pears")).toEqual([]);
  await sql`update definitions set description = 'about plums' where id = ${draft}`;
  await sql`update definitions set status = 'published', published_at = now() where id = ${draft}`;
  expect(await listed(api, "search=plums")).toEqual(["line@2.0.0"]);
  expect(await listed(api, "search=apples")).toEqual([]);
  expect(await listed(api, "search=apples&latestOnly=false")).toEqual(["line@1.0.0"]);
  await sql`
    update definitions set status = 'deprecated', deprecated_at = now(), deprecation_reason = 'old' where id = ${draft}`;
  await sql`update definitions set status = 'archived', archived_at = now() where id = ${draft}`;
  expect(await listed(api, "")).toEqual(["line@1.0.0"]);
  await sql`update definition_lines set forked_from_id = ${crypto.randomUUID()} where name = 'line'`;
  expect(await listed(api, "isFork=true")).toEqual(["line@1.0.0"]);
  const gone = await make({ name: "gone", status: "draft" });
  await sql`delete from definitions where id = ${gone}`;
  const [left] = await sql`select count(*) as listings from definition_listings`;
  expect(left).toEqual({ listings: 1 });
  expect(await list(api, "limit=1")).toMatchObject({ definitions: [{ id: first }], total: 1 });
});

test("a list that takes too long returns 503 with Retry-After", async () => {
  await using registry = await openRegistry();
  const { api } = registry;
  await api.db.sql.begin(async (tx) => {
    await tx`lock table definition_listings in access exclusive mode`;
    const response = await ask(api, "", null);
    expect(await errorOf(response)).toMatchObject([503, "SERVICE_UNAVAILABLE"]);
    expect(response.headers.get("retry-after")).toBe("5");
  });
  expect(await list(api, "")).toMatchObject({ total: 0 });
});

/** Counts the list queries that wait for a table lock. Each query holds a connection. */
async function countWaitingLists(api: TestApp): Promise<number> {
  const rows = await api.db.admin`
    select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%definition_listings%'`;
  return rows.length;
}

test("slow lists use at most half of the connections, and further lists wait", async () => {
  await using registry = await openRegistry();
  const { api, person } = registry;
  const half = Math.ceil(api.deps.config.databasePoolMax / 2);
  const waiting: Promise<unknown>[] = [];
  await api.db.owner.begin(async (tx) => {
    await tx`lock table definition_listings in access exclusive mode`;
    for (let offset = 0; offset < 3 * half; offset += 1)
      waiting.push(ask(api, `?offset=${offset}`, null, { address: `192.0.2.${offset + 1}` }));
    const isWaiting = async () => (await countWaitingLists(api)) === half;
    await waitFor(isWaiting);
    const { status } = await api.request(`/api/v1/users/${person.user.id}`, { key: person.key });
    expect(status).toBe(200);
    expect(await isWaiting()).toBe(true);
  });
  await Promise.all(waiting);
  expect(await list(api, "")).toMatchObject({ total: 0 });
});

test("one caller's slow lists do not delay other callers, and lists beyond the caller's share are refused", async () => {
  await using registry = await openRegistry();
  const { api, person } = registry;
  const other = await api.make.person();
  const [running, waiting] = [Math.floor(api.deps.config.databasePoolMax / 4), LISTS_WAITING_MAX];
  const lists: Promise<unknown>[] = [];
  await api.db.owner.begin(async (tx) => {
    await tx`lock table definition_listings in access exclusive mode`;
    const settled: Response[] = [];
    for (let offset = 0; offset <= running + waiting; offset += 1) {
      const answer = ask(api, `?offset=${offset}`, person);
      lists.push(answer.then((response) => settled.push(response)));
    }
    const refused = await waitFor(() => settled[0]);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(await errorOf(refused)).toEqual([
      429,
      "RATE_LIMITED",
      { share: "user", limit: running + waiting },
    ]);
    // Another caller's list starts at once, although a hundred lists wait.
    lists.push(ask(api, "", other));
    await waitFor(async () => (await countWaitingLists(api)) === running + 1);
  });
  await Promise.all(lists);
  expect(await list(api, "", person)).toMatchObject({ total: 0 });
});

test("an invalid query parameter is rejected with its name", async () => {
  await using registry = await openRegistry();
  const { api } = registry;
  const refused: readonly [string, string][] = [
    ["limit=101", "limit"],
    ["limit=0", "limit"],
    ["limit=ten", "limit"],
    ["offset=-1", "offset"],
    ["offset=99999999999", "offset"],
    ["type=robot", "type"],
    ["type=agent&type=agent", "type"],
    ["status=live", "status"],
    ["agentType=", "agentType"],
    ["domain=Software", "domain"],
    ["tier=free", "tier"],
    ["visibility=secret", "visibility"],
    ["authorId=me", "authorId"],
    ["authorshipType=robot", "authorshipType"],
    ["isFork=1", "isFork"],
    ["latestOnly=yes", "latestOnly"],
    ["sortBy=created_at", "sortBy"],
    ["sortOrder=up", "sortOrder"],
    ["tags=a", "tags"],
    // A NUL character or invalid UTF-8 is refused before the parameters are parsed.
    ["search=a%00b", ""],
    ["tag=a%FFb", ""],
    [`search=${"x".repeat(10_240)}`, "search"],
  ];
  for (const [query, path] of refused) {
    const [status, code, details] = await errorOf(await ask(api, `?${query}`, null));
    expect([query, status, code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    expect(details).toEqual({ errors: [{ path, message: expect.any(String) }] });
  }
});
