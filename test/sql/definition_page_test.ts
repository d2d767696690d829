import { expect, test } from "bun:test";
import { type CountedPage, countAndList } from "../../sql/definition_counted_page.ts";
import { countMatches, type LevelCount, type MatchQuery, sumOf } from "../../sql/definition_matches.ts";
import { DEFINITION_SORTS, type DefinitionOrder } from "../../sql/definition_order.ts";
import { listPage } from "../../sql/definition_page.ts";

import { filterParts } from "../../sql/definition_terms.ts";
import type { Pool } from "../../sql/pool.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { ALL_DEFINITIONS, makeVersion } from "../helpers/definition_list.ts";
import { createFactory } from "../helpers/factory.ts";

const LINES = 600;
const LIMIT = 70;
/** Nothing is cheap; what is not worth the trouble is not narrowed down; everything is sorted. */
const PATIENCE = [0, undefined, Number.POSITIVE_INFINITY];

test("pages of any order are the same, whether matches are sorted, walked through, or narrowed down to buckets", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await makeLines(sql);
  await expectSamePages(sql);
  // Counts that get a digit more, that lose one, and names and times that are new.
  await sql`
    update definition_lines
    set execution_count = execution_count * 3 + 1, unique_execution_count = unique_execution_count / 2
    where name < 'm'`;
  await sql`update definitions set updated_at = updated_at + interval '40 days' where name > 'd' and status = 'draft'`;
  await sql`delete from definitions where status = 'draft' and name > 'x'`;
  await expectSamePages(sql);
}, 60_000);

/** Names that begin alike or not at all, times over three years and on one day, counts of every size, with ties. */
async function makeLines(sql: Pool): Promise<void> {
  const person = await createFactory(sql).person();
  const { org, user } = person;
  await makeVersion(sql, { orgId: org.id, authorId: user.id, name: "hidden", visibility: "private" });
  await sql`select setseed(0.25)`;
  await sql.begin(async (tx) => {
    await tx`
      insert into definition_lines (org_id, type, name, execution_count, unique_execution_count)
      select
        ${org.id}, 'agent',
        case when n % 3 = 0 then 'agent-' else chr(97 + (random() * 25)::int) || chr(97 + (random() * 3)::int) end || n,
        counts.executions, counts.executions / 3
      from generate_series(1, ${LINES}::int) as n
      cross join lateral (
        select case when n % 4 = 0 then 0 else floor(exp(random() * 12))::bigint end as executions
      ) as counts`;
    await tx`
      insert into definitions (
        line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, author_id, change_type,
        created_at, updated_at, published_at
      )
      select
        l.id, l.org_id, l.type, l.name, '1.0.0', s.status, 'public', '', ${`sha256:${"0".repeat(64)}`}, 'Some words',
        ${user.id}, 'major', s.created_at, s.created_at + floor(random() * 50) * interval '1 day',
        case when s.status = 'published' then now() end
      from definition_lines as l
      cross join lateral (
        select
          case when random() < 0.6 then 'published' else 'draft' end as status,
          case
            when random() < 0.3 then '2025-03-01'::timestamptz + floor(random() * 20) * interval '1 hour'
            else '2023-01-31 23:00'::timestamptz + random() * interval '1000 days'
          end as created_at
        where l.id is not null
      ) as s
      where l.name <> 'hidden'`;
  });
}

async function expectSamePages(sql: Pool): Promise<void> {
  const match: MatchQuery = {
    viewer: { userId: null, boundOrgId: null },
    orgId: null,
    parts: filterParts({ ...ALL_DEFINITIONS, status: "published" }),
  };
  for (const sortBy of DEFINITION_SORTS) {
    for (const sortOrder of ["asc", "desc"] as const) {
      const expected = await naiveOrder(sql, { sortBy, sortOrder });
      for (const cheap of PATIENCE) {
        const counts = await countMatches(sql, match);
        const walked: string[] = [];
        for (let offset = 0; offset < expected.length; offset += LIMIT) {
          const page = { order: { sortBy, sortOrder }, limit: LIMIT, offset, counts, listings: LINES };
          const entries = await listPage(sql, match, page, cheap);
          walked.push(...entries.map(({ id }) => id));
        }
        expect([sortBy, sortOrder, cheap, walked]).toEqual([sortBy, sortOrder, cheap, expected]);
      }
    }
  }
}

test("pages over several levels are the same, whichever of them are listed together", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const { match, counts, total } = await makeLevels(sql);
  const readAll = async (limit: number, cheap: number): Promise<string[]> => {
    const read: string[] = [];
    for (let offset = 0; offset < total; offset += limit) {
      const page = { order: LATEST, limit, offset, counts, listings: LINES };
      read.push(...(await listPage(sql, match, page, cheap)).map(({ id }) => id));
    }
    return read;
  };
  const sorted = await readAll(total, Number.POSITIVE_INFINITY);
  expect(new Set(sorted).size).toBe(total);
  for (const cheap of [0, 100, 300]) expect([cheap, await readAll(17, cheap)]).toEqual([cheap, sorted]);
}, 60_000);

test("a page that is listed while matches are counted is the same, and none when that would be too much", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const { match, counts, total } = await makeLevels(sql);
  const everything = { order: LATEST, limit: total, offset: 0, counts, listings: LINES };
  const sorted = (await listPage(sql, match, everything, Number.POSITIVE_INFINITY)).map(({ id }) => id);
  const limit = 17;
  for (const [lastLevel, mostSorted] of [0, 3, counts.length].flatMap((level) =>
    [0, 100, total].map((most) => [level, most] as const),
  )) {
    for (let offset = 0; offset < total + limit; offset += limit) {
      const shown = levelsOf(counts, { limit, offset });
      const isAllowed = shown.every(({ level }) => level <= lastLevel);
      const isSorted = isAllowed && sumOf(shown) <= mostSorted;
      const ids = sorted.slice(offset, offset + limit);
      const query = { order: LATEST, limit, offset, lastLevel, mostSorted, mostWalked: 0 };
      const page = await countAndList(sql, match, query);
      expect([page.counts, idsOf(page)]).toEqual([counts, isSorted ? ids : null]);
      // The last level is walked for when only that makes it too much to be sorted.
      const walked = await countAndList(sql, match, { ...query, mostWalked: Number.MAX_SAFE_INTEGER });
      expect(idsOf(walked)).toEqual(
        isSorted || (isAllowed && sumOf(shown.slice(0, -1)) <= mostSorted) ? ids : null,
      );
    }
  }
}, 60_000);

const LATEST = { sortBy: "createdAt", sortOrder: "desc" } as const;

/** Lines, and a list of them in some levels. */
async function makeLevels(sql: Pool) {
  await makeLines(sql);
  const initials = await sql<{ term: string }[]>`
    select distinct term from definition_postings where term like 'name1^%' order by term limit 6`;
  const levels = initials.map(({ term }, level) => ({ level, part: 0, terms: [term] }));
  const match: MatchQuery = {
    viewer: { userId: null, boundOrgId: null },
    orgId: null,
    parts: [
      ...filterParts({ ...ALL_DEFINITIONS, status: "published" }),
      ...levels,
      { level: levels.length, part: 0, terms: ["status=published"] },
    ],
  };
  const counts = await countMatches(sql, match);
  expect(counts).toHaveLength(levels.length + 1);
  return { match, counts, total: sumOf(counts) };
}

function idsOf({ entries }: CountedPage): string[] | null {
  return entries?.map(({ id }) => id) ?? null;
}

/** The levels that a page has rows of. */
function levelsOf(counts: readonly LevelCount[], page: { limit: number; offset: number }): LevelCount[] {
  const { limit, offset } = page;
  return counts.filter(({ total }, index) => {
    const first = sumOf(counts.slice(0, index));
    return first < offset + limit && first + total > offset;
  });
}

async function naiveOrder(sql: Pool, { sortBy, sortOrder }: DefinitionOrder): Promise<string[]> {
  const keys = {
    name: sql`d.name collate "C", d.id`,
    createdAt: sql`d.created_at, d.id`,
    updatedAt: sql`d.updated_at, d.id`,
    executionCount: sql`l.execution_count, l.id, d.id`,
    uniqueExecutionCount: sql`l.unique_execution_count, l.id, d.id`,
  };
  const rows = await sql<{ id: string }[]>`
    select d.id
    from definitions as d
    join definition_lines as l on l.id = d.line_id
    where d.status = 'published' and d.visibility = 'public'
    order by ${keys[sortBy]}`;
  const ids = rows.map(({ id }) => id);
  return sortOrder === "asc" ? ids : ids.reverse();
}
