import { expect, test } from "bun:test";
import fc from "fast-check";
import { DEFINITION_STATUSES, DEFINITION_VISIBILITIES } from "../../../../shared/vocabulary.ts";
import { list, makeVersion } from "../../../helpers/definitions/definition_list.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { OrgRow } from "../../../helpers/postgres/factory.ts";

const WORDS = ["apple", "cherry", "plum"] as const;
const NAMES = ["first", "second", "third"] as const;
const DOMAINS = ["software", "legal"] as const;

const version = fc.record({
  org: fc.nat({ max: 1 }),
  name: fc.constantFrom(...NAMES),
  version: fc.constantFrom("1.0.0", "1.2.0", "1.10.0", "2.0.0"),
  status: fc.constantFrom(...DEFINITION_STATUSES),
  visibility: fc.constantFrom(...DEFINITION_VISIBILITIES),
  domain: fc.constantFrom(...DOMAINS),
  tags: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
  words: fc.uniqueArray(fc.constantFrom(...WORDS)),
  createdAt: fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"),
});

const query = fc.record({
  caller: fc.constantFrom("anonymous", "member", "memberOfOne"),
  latestOnly: fc.boolean(),
  publishedFirst: fc.boolean(),
  status: fc.option(fc.constantFrom(...DEFINITION_STATUSES)),
  visibility: fc.option(fc.constantFrom(...DEFINITION_VISIBILITIES)),
  domain: fc.option(fc.constantFrom(...DOMAINS)),
  tags: fc.uniqueArray(fc.constantFrom("x", "y", "none")),
  words: fc.uniqueArray(fc.constantFrom(...WORDS)),
  sortBy: fc.constantFrom("name", "createdAt"),
  sortOrder: fc.constantFrom("asc", "desc"),
});

type Version = typeof version extends fc.Arbitrary<infer Value> ? Value : never;
type Query = typeof query extends fc.Arbitrary<infer Value> ? Value : never;
type Stored = Version & { id: string };

test("a list returns the same definitions as a scan of all versions", async () => {
  await using api = await openTestApp({ config: { rateLimitAnonymousPerMinute: 100_000 } });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(version, { maxLength: 8, selector: (v) => `${v.org} ${v.name} ${v.version}` }),
      fc.array(query, { minLength: 8, maxLength: 8 }),
      async (versions, queries) => {
        const registry = await store(api, versions);
        const listed = await Promise.all(queries.map((asked) => listedIds(api, registry, asked)));
        expect(queries.map((asked, index) => [asked, listed[index]])).toEqual(
          queries.map((asked) => [asked, expectedIds(registry.stored, asked)]),
        );
      },
    ),
    { numRuns: 25 },
  );
});

interface Registry {
  stored: Stored[];
  authorId: string;
  key: string;
  /** The caller is a member of the first organization only. */
  orgs: readonly [OrgRow, OrgRow];
}

/** Stores the versions under a new author. The queries filter by author, because the rows of earlier runs remain. */
async function store(api: TestApp, versions: readonly Version[]): Promise<Registry> {
  const person = await api.make.person();
  const orgs = [person.org, await api.make.org()] as const;
  const stored: Stored[] = [];
  for (const { words, org, ...columns } of versions) {
    const id = await makeVersion(api.db.sql, {
      ...columns,
      orgId: orgs[org === 0 ? 0 : 1].id,
      authorId: person.user.id,
      description: words.join(" "),
    });
    stored.push({ ...columns, words, org, id });
  }
  return { stored, authorId: person.user.id, key: person.key, orgs };
}

async function listedIds(api: TestApp, { authorId, key, orgs }: Registry, asked: Query): Promise<string[]> {
  const { caller, latestOnly, publishedFirst, status, visibility, domain, tags, words, sortBy, sortOrder } =
    asked;
  const parameters = new URLSearchParams({
    authorId,
    latestOnly: String(latestOnly),
    publishedFirst: String(publishedFirst),
    sortBy,
    sortOrder,
  });
  for (const [name, value] of Object.entries({ status, visibility, domain })) {
    if (value !== null) parameters.set(name, value);
  }
  for (const tag of tags) parameters.append("tag", tag);
  if (words.length > 0) parameters.set("search", words.join(" "));
  const org = caller === "memberOfOne" ? { org: orgs[0] } : {};
  const found = await list(api, parameters.toString(), caller === "anonymous" ? null : { key, ...org });
  expect(found.total).toBe(found.definitions.length);
  return found.definitions.map(({ id }) => id);
}

function expectedIds(stored: readonly Stored[], asked: Query): string[] {
  const allowed = stored.filter(
    (v) => isListed(v, asked.caller) && (asked.status === null || v.status === asked.status),
  );
  const latest = allowed.filter(
    (v) => !asked.latestOnly || !allowed.some((other) => isSameLine(v, other) && isBefore(asked, other, v)),
  );
  const matching = latest.filter(
    (v) =>
      (asked.visibility === null || v.visibility === asked.visibility) &&
      (asked.domain === null || v.domain === asked.domain) &&
      (asked.tags.length === 0 || asked.tags.some((tag) => v.tags.includes(tag as "x"))) &&
      asked.words.every((word) => v.words.includes(word)),
  );
  const key = (v: Stored): string =>
    `${asked.sortBy === "name" ? v.name.padEnd(9, "\0") : v.createdAt}${v.id}`;
  const ascending = matching.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ id }) => id);
  return asked.sortOrder === "asc" ? ascending : ascending.reverse();
}

/** Whether the list shows `a` instead of `b`. Both are versions of one line. */
function isBefore({ caller, publishedFirst }: Query, a: Version, b: Version): boolean {
  const isOwn = a.org === 0 && caller !== "anonymous";
  if (!publishedFirst || !isOwn || a.status === b.status) return isHigher(a, b);
  const order = ["published", "deprecated", "draft"];
  return order.indexOf(a.status) < order.indexOf(b.status);
}

function isListed(v: Version, caller: Query["caller"]): boolean {
  if (v.status === "archived") return false;
  const isOpen = v.status !== "draft" && v.visibility === "public";
  if (caller === "anonymous") return isOpen;
  return v.org === 0 || (caller === "member" && isOpen);
}

function isSameLine(a: Version, b: Version): boolean {
  return a.org === b.org && a.name === b.name;
}

function isHigher(a: Version, b: Version): boolean {
  return Bun.semver.order(a.version, b.version) > 0;
}
