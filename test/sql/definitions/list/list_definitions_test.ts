import { expect, test } from "bun:test";
import type { Pool, Sql } from "../../../../sql/connection/pool.ts";
import {
  type DefinitionListQuery,
  listDefinitions,
} from "../../../../sql/definitions/list/list_definitions.ts";
import { ALL_DEFINITIONS, makeVersion, openLists } from "../../../helpers/definitions/definition_list.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

/** Number of matches, more than the 1,000 that a search ranks. */
const MANY = 1800;

const ALL: DefinitionListQuery = {
  viewer: { userId: null, boundOrgId: null },
  orgId: null,
  filters: ALL_DEFINITIONS,
  search: null,
  sortBy: null,
  sortOrder: "desc",
  limit: 100,
  offset: 0,
};

test("returns every match exactly once across pages, in every sort order", async () => {
  await using db = await createTestDatabase();
  await using lists = openLists(db);
  const { sql } = db;
  const owner = await makeMany(db);
  const best = await makeVersion(sql, { ...owner, name: "common" });
  const second = await makeVersion(sql, { ...owner, name: "common-sense" });
  await makeVersion(sql, { ...owner, name: "other" });
  for (const sortBy of [null, "name", "createdAt", "executionCount"] as const) {
    for (const sortOrder of ["asc", "desc"] as const) {
      const walked: string[] = [];
      for (let offset = 0; offset < MANY + 100; offset += 100) {
        const query = { ...ALL, search: "common", sortBy, sortOrder, offset };
        const page = await listDefinitions(lists.listSql, query);
        expect(page.total).toBe(MANY + 2);
        walked.push(...idsOf(new TextDecoder().decode(page.items)));
      }
      expect(walked).toHaveLength(MANY + 2);
      expect(walked).toEqual(await naiveOrder(sql, [best, second], { sortBy, sortOrder }));
    }
  }
});

async function naiveOrder(
  sql: Pool,
  best: readonly string[],
  { sortBy, sortOrder }: Pick<DefinitionListQuery, "sortBy" | "sortOrder">,
): Promise<string[]> {
  const keys =
    sortBy === "executionCount"
      ? sql`l.execution_count, l.id`
      : sortBy === "name"
        ? sql`d.name collate "C", d.id`
        : sql`d.created_at, d.id`;
  const rows = await sql<{ id: string }[]>`
    select d.id
    from definitions as d
    join definition_lines as l on l.id = d.line_id
    where d.name <> 'other'
    order by case when ${sortBy === null} then array_position(${[...best]}::uuid[], d.id) end, ${keys}`;
  const ids = rows.map(({ id }) => id);
  if (sortOrder === "asc") return ids;
  return sortBy === null ? [...best, ...ids.slice(best.length).reverse()] : ids.reverse();
}

test("reads no drafts of other organizations in a search, and keeps no words of deleted drafts", async () => {
  await using db = await createTestDatabase();
  await using lists = openLists(db);
  const { sql } = db;
  const owner = await makeMany(db);
  await makeVersion(sql, { ...owner, name: "code-reviewer" });
  await db.owner`vacuum (analyze) definition_listings`;
  const searches = ["code", "cod", "coed", "code reviewer pipeline"];
  const before = await readBlocks(lists.listSql, searches);
  const stranger = await createFactory(sql).person();
  for (let draft = 0; draft < 50; draft += 1) {
    const words = Array.from({ length: 300 }, (_, number) => `code${draft}x${number} coedx${number}`);
    await makeVersion(sql, {
      orgId: stranger.org.id,
      authorId: stranger.user.id,
      name: `code-${draft}`,
      status: "draft",
      description: words.join(" "),
    });
  }
  // Repeats the vacuum, because vacuum keeps dead rows that another session, such as an autoanalyze, can still see.
  await waitFor(async () => {
    await db.owner`vacuum (analyze) definition_listings`;
    return (await readBlocks(lists.listSql, searches)) <= before;
  });
  expect(await listDefinitions(lists.listSql, { ...ALL, search: "coed0x7" })).toEqual({
    items: new Uint8Array(),
    total: 0,
  });
  await sql`delete from definitions where org_id = ${stranger.org.id}`;
  expect(await readBlocks(lists.listSql, searches)).toBeLessThanOrEqual(before);
  const [left] = await sql`select count(*) from definition_listings where org_id = ${stranger.org.id}`;
  expect(left).toEqual({ count: 0 });
});

test("returns a page with a large offset to a member of an organization with many versions", async () => {
  await using db = await createTestDatabase();
  const make = createFactory(db.sql);
  const [member, stranger] = [await make.person(), await make.person()];
  // With this `work_mem`, the member's versions do not fit in a hash table.
  await db.admin.unsafe(`alter database ${new URL(db.url).pathname.slice(1)} set work_mem = '64kB'`);
  await addListings(db, member.org.id, 40_000);
  await addListings(db, stranger.org.id, 6_000);
  await using lists = openLists(db);
  const viewer = { userId: member.user.id, boundOrgId: null };
  const filters = { ...ALL_DEFINITIONS, latestOnly: false };
  const { total } = await listDefinitions(lists.listSql, { ...ALL, viewer, filters, offset: 45_990 });
  expect(total).toBe(46_000);
});

/** Adds public listings without their versions. */
async function addListings({ admin }: TestDatabase, orgId: string, count: number): Promise<void> {
  await admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into definition_listings (
        definition_id, line_id, org_id, author_id, created_at, updated_at, is_public, is_public_latest, is_fork, type,
        name, status, visibility, tier, domain, tags, words
      )
      select
        gen_random_uuid(), gen_random_uuid(), ${orgId}, gen_random_uuid(), now(), now(), true, false, false, 'agent',
        'listed-' || number, 'published', 'public', 'free', 'software', '{}', ''
      from generate_series(1, ${count}::int) as number`;
  });
  await admin`analyze definition_listings`;
}

test("searches and counts the latest public versions without reading rows of other versions", async () => {
  await using db = await createTestDatabase();
  await using lists = openLists(db);
  const { sql } = db;
  const owner = await makeMany(db);
  const others = [
    { version: "0.9.0" },
    { version: "2.0.0", status: "draft" },
    { version: "3.0.0", visibility: "private" },
  ] as const;
  for (let line = 1; line <= 20; line += 1) {
    for (const other of others) {
      await makeVersion(sql, { ...owner, ...other, name: `line-${line}`, description: "a common word" });
    }
  }
  await db.owner`vacuum (analyze) definition_listings`;
  const { listSql } = lists;
  expect((await listDefinitions(listSql, { ...ALL, search: "common" })).total).toBe(MANY);
  const read = await readBlocksOfTables(listSql, ["common", "common word", "c", "comm", "comomn"]);
  expect([...read.keys()]).toEqual(["definition_listings_latest"]);
});

/** Returns the number of blocks that the searches of an anonymous caller read from the listings and their indexes. */
async function readBlocks(listSql: Pool, searches: readonly string[]): Promise<number> {
  const read = await readBlocksOfTables(listSql, searches);
  expect(read.size).toBeGreaterThan(0);
  return [...read.values()].reduce((all, blocks) => all + blocks, 0);
}

/**
 * Returns the number of blocks that the searches read, by table. Omits tables that were not read. `listSql` must have one
 * connection, because `pg_stat_force_next_flush` applies to the session that ran the searches.
 */
async function readBlocksOfTables(listSql: Pool, searches: readonly string[]): Promise<Map<string, number>> {
  const count = async () => {
    // PostgreSQL flushes statistics between statements, but not within a transaction.
    await listSql`select pg_stat_force_next_flush()`;
    return listSql<{ name: string; blocks: number }[]>`
      select
        relname as name,
        heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0) as blocks
      from pg_statio_user_tables
      where relname like 'definition_listings%'
      order by relname`;
  };
  const before = await count();
  for (const search of searches) await listDefinitions(listSql, { ...ALL, search });
  const after = await count();
  const read = after.map(({ name, blocks }, at) => [name, blocks - (before[at]?.blocks ?? 0)] as const);
  return new Map(read.filter(([, blocks]) => blocks > 0));
}

test("makes no writer wait for a writer of another line, in the same or another organization", async () => {
  await using db = await createTestDatabase();
  const { sql } = db;
  const make = createFactory(sql);
  const [person, other] = [await make.person(), await make.person()];
  const owners = [person, person, other].map(({ org, user }) => ({ orgId: org.id, authorId: user.id }));
  const drafts: string[] = [];
  for (const [number, owner] of owners.entries()) {
    drafts.push(await makeVersion(sql, { ...owner, name: `line-${number}`, status: "draft" }));
  }
  const publish = (tx: Sql, id: string | undefined) => tx`
    update definitions
    set status = 'published', published_at = now(), description = 'the same new words'
    where id = ${id ?? null}`;
  await sql.begin(async (first) => {
    await publish(first, drafts[0]);
    for (const [number, owner] of owners.entries()) {
      if (number === 0) continue;
      await sql.begin(async (second) => {
        await second`set local lock_timeout = '5s'`;
        await publish(second, drafts[number]);
        await makeVersion(second, {
          ...owner,
          name: `new-${number}`,
          description: "the same new words",
        });
      });
    }
  });
  expect(await findWrongListings(sql)).toEqual([]);
});

test("keeps every listing correct while concurrent transactions change versions, even of the same line", async () => {
  await using db = await createTestDatabase();
  const { sql } = db;
  const { org, user } = await createFactory(sql).person();
  const ids: string[] = [];
  for (let number = 0; number < 24; number += 1) {
    const version = { name: `line-${number % 6}`, version: `1.${number}.0`, status: "draft" } as const;
    ids.push(await makeVersion(sql, { orgId: org.id, authorId: user.id, ...version }));
  }
  const changes = ids.map((id, number) => async () => {
    await sql.begin(async (tx) => {
      await tx`
        update definitions
        set status = 'published', published_at = now(), visibility = ${number % 3 === 0 ? "private" : "public"}
        where id = ${id}`;
      if (number % 4 !== 0) return;
      await tx`
        update definitions
        set status = 'deprecated', deprecated_at = now(), deprecation_reason = 'old'
        where id = ${id}`;
    });
  });
  await Promise.all(changes.map((change) => change()));
  expect(await findWrongListings(sql)).toEqual([]);
  await db.owner.unsafe("alter table definitions disable trigger definitions_published_guard");
  await sql`delete from definitions where version like '1.2%'`;
  expect(await findWrongListings(sql)).toEqual([]);
});

/** Returns the versions whose stored listing differs from the listing computed from `definitions`. */
async function findWrongListings(sql: Pool): Promise<unknown[]> {
  const isPublic = sql`(e.status in ('published', 'deprecated') and e.visibility = 'public')`;
  const isLatest = (others: typeof isPublic) => sql`not exists (
    select
    from definitions as e
    where e.line_id = d.line_id and e.status <> 'archived' and ${others}
      and (e.version_major, e.version_minor, e.version_patch) > (d.version_major, d.version_minor, d.version_patch)
  )`;
  const isFirst = sql`d.id = (
    select e.id
    from definitions as e
    where e.line_id = d.line_id and e.status <> 'archived'
    order by
      e.status = 'draft', e.status = 'deprecated', e.version_major desc, e.version_minor desc, e.version_patch desc
    limit 1
  )`;
  const rows = await sql`
    select d.name, d.version
    from definitions as d
    full join definition_listings as v on v.definition_id = d.id
    cross join lateral (select d.status in ('published', 'deprecated') and d.visibility = 'public' as is_public) as p
    where (
        v.is_public, v.status, v.visibility, v.is_latest, v.is_first, v.is_latest_of_status,
        v.is_public_latest, v.is_public_latest_of_status
      ) is distinct from (
        p.is_public, d.status, d.visibility, ${isLatest(sql`true`)}, ${isFirst}, ${isLatest(sql`e.status = d.status`)},
        p.is_public and ${isLatest(isPublic)}, p.is_public and ${isLatest(sql`${isPublic} and e.status = d.status`)}
      )`;
  return [...rows];
}

/** Makes published lines whose descriptions share a word. Their creation times are spread over seven days. */
async function makeMany({ sql }: TestDatabase): Promise<{ orgId: string; authorId: string }> {
  const { org, user } = await createFactory(sql).person();
  await sql.begin(async (tx) => {
    await tx`
      insert into definition_lines (org_id, type, name, execution_count)
      select ${org.id}, 'agent', 'line-' || n, n % 7 from generate_series(1, ${MANY}::int) as n`;
    await tx`
      insert into definitions (
        line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, description, author_id,
        change_type, created_at, published_at
      )
      select
        id, org_id, type, name, '1.0.0', 'published', 'public', '', ${`sha256:${"0".repeat(64)}`}, 'Words',
        'a common word', ${user.id}, 'major', '2026-01-01'::timestamptz + execution_count * interval '1 day', now()
      from definition_lines`;
  });
  return { orgId: org.id, authorId: user.id };
}

function idsOf(items: string): string[] {
  return (JSON.parse(`[${items}]`) as { id: string }[]).map(({ id }) => id);
}
