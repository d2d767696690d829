import { expect, test } from "bun:test";
import type { Pool, Sql } from "../../../sql/connection/pool.ts";
import {
  type DefinitionLineQuery,
  findLineId,
  findVisibleLine,
  visibleLine,
} from "../../../sql/definitions/definition_lines.ts";
import { makeDefinition } from "../../helpers/definitions/definitions.ts";
import { countReads } from "../../helpers/postgres/count_reads.ts";
import { createTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory, type Person } from "../../helpers/postgres/factory.ts";

interface PlanNode {
  "Actual Rows": number;
  "Actual Loops": number;
  "Relation Name"?: string;
  Plans?: PlanNode[];
}

/**
 * Creates organizations that each have one version of an agent named `reviewer`. The first `counts.deprecated` versions are
 * deprecated, and the next `counts.published` versions are published. Versions are public unless `visibility` is set.
 */
async function makeStrangers(
  sql: Pool,
  author: Person,
  counts: { deprecated: number; published: number; visibility?: "private" },
) {
  await sql`
    with org as (
      insert into organizations (slug, name)
      select 'stranger-' || n, 'Stranger' from generate_series(1, ${counts.deprecated + counts.published}::int) as n
      returning id, substr(slug, 10)::int as number
    ), line as (
      insert into definition_lines (org_id, type, name, first_published_at)
      select id, 'agent', 'reviewer', '2026-01-01'::timestamptz + number * interval '1 second' from org
      returning id, org_id, first_published_at
    )
    insert into definitions (
      line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, author_id, change_type,
      published_at, deprecated_at, deprecation_reason
    )
    select
      l.id, l.org_id, 'agent', 'reviewer', '1.0.0', s.status, ${counts.visibility ?? "public"}, '', 'sha256:' || repeat('0', 64), 'Reviewer',
      ${author.user.id}, 'major', l.first_published_at, case when s.status = 'deprecated' then now() end,
      case when s.status = 'deprecated' then 'Old' end
    from line as l
    join org as o on o.id = l.org_id
    cross join lateral (
      select case when o.number <= ${counts.deprecated}::int then 'deprecated' else 'published' end as status
    ) as s`;
  await sql`analyze definitions, definition_lines, organizations`;
}

/** Returns the number of line and version rows that a lookup of the name visits. */
async function countVisited(sql: Pool, query: DefinitionLineQuery, versions: readonly string[]) {
  const [row] = await sql<[{ "QUERY PLAN": [{ Plan: PlanNode }] }]>`
    explain (analyze, format json) ${visibleLine(query, versions)}`;
  const [plan] = Object.values(row) as [[{ Plan: PlanNode }]];
  const visit = (node: PlanNode): number =>
    (node["Relation Name"]?.startsWith("definition") ? node["Actual Rows"] * node["Actual Loops"] : 0) +
    (node.Plans ?? []).reduce((sum, inner) => sum + visit(inner), 0);
  return visit(plan[0].Plan);
}

test("reads only a few definition lines for a name that thousands of organizations use", async () => {
  await using db = await createTestDatabase();
  const make = createFactory(db.sql);
  const [author, member] = [await make.person(), await make.person()];
  await makeStrangers(db.owner, author, { deprecated: 0, published: 3000 });
  const own = await makeDefinition(db.sql, member, { name: "reviewer", status: "deprecated" });
  const read = { type: "agent", name: "reviewer", orgId: null } as const;
  for (const versions of [[], ["1.0.0"]]) {
    for (const userId of [null, author.user.id, member.user.id]) {
      const viewer = { userId, boundOrgId: null };
      const visited = await countVisited(db.owner, { ...read, viewer }, versions);
      expect([userId, versions, visited < 20]).toEqual([userId, versions, true]);
      const line = await findVisibleLine(db.sql, { ...read, viewer }, versions);
      expect(line?.id === own.lineId).toBe(userId === member.user.id);
    }
  }
});

test("chooses the oldest line with a published version, or the oldest line if no version is published", async () => {
  await using db = await createTestDatabase();
  const author = await createFactory(db.sql).person();
  await makeStrangers(db.owner, author, { deprecated: 2, published: 2 });
  const viewer = { userId: null, boundOrgId: null };
  const read = { type: "agent", name: "reviewer", viewer, orgId: null } as const;
  const slugOf = async (versions: readonly string[] = []) => {
    const line = await findVisibleLine(db.sql, read, versions);
    const [org] = await db.sql`select slug from organizations where id = ${line?.orgId ?? null}`;
    return org?.["slug"];
  };
  expect([await slugOf(), await slugOf(["1.0.0"]), await slugOf(["2.0.0"])]).toEqual([
    ...["stranger-3", "stranger-3", "stranger-3"],
  ]);
  await db.owner`update definitions set status = 'deprecated', deprecated_at = now(), deprecation_reason = 'Old' where status = 'published'`;
  expect(await slugOf()).toBe("stranger-1");
});

test("reads only a few lines for a name that is private to thousands of organizations, even with a generic plan", async () => {
  await using db = await createTestDatabase();
  const make = createFactory(db.sql);
  const [author, member] = [await make.person(), await make.person()];
  await makeStrangers(db.owner, author, { deprecated: 0, published: 3000, visibility: "private" });
  // Adds so many lines with other names that the planner expects one line per name.
  await db.owner`
    insert into definition_lines (org_id, type, name)
    select id, 'agent', 'other-' || n || '-' || right(slug, 4)
    from organizations, generate_series(1, 25) as n
    where slug like 'stranger-%'`;
  await db.owner`analyze definition_lines`;
  const named = { type: "agent", name: "reviewer" } as const;
  const withReads = (findId: (tx: Sql) => Promise<string | null>) =>
    db.sql.begin(async (tx) => {
      await tx`set local plan_cache_mode = force_generic_plan`;
      const { result: id, rows } = await countReads(tx, ["definition_lines", "definitions"], () =>
        findId(tx),
      );
      return { id, readsFew: rows < 100 };
    });
  const find = (userId: string | null, orgId: string | null = null) =>
    withReads(async (tx) => {
      const viewer = { userId, boundOrgId: null };
      return (await findVisibleLine(tx, { ...named, orgId, viewer }))?.id ?? null;
    });
  expect(await find(null)).toEqual({ id: null, readsFew: true });
  expect(await find(member.user.id)).toEqual({ id: null, readsFew: true });
  const own = await makeDefinition(db.sql, member, { name: "reviewer" });
  expect(await find(member.user.id)).toEqual({ id: own.lineId, readsFew: true });
  await makeDefinition(db.sql, author, { name: "reviewer", status: "published", visibility: "public" });
  expect(await find(null, member.org.id)).toEqual({ id: null, readsFew: true });
  const findOwn = (tx: Sql) => findLineId(tx, { ...named, orgId: member.org.id });
  expect(await withReads(findOwn)).toEqual({ id: own.lineId, readsFew: true });
});

test("prefers a line with a version that others can see to a line with only drafts", async () => {
  await using db = await createTestDatabase();
  const make = createFactory(db.sql);
  const [author, member] = [await make.person(), await make.person()];
  const own = await makeDefinition(db.sql, member, { name: "reviewer", status: "draft" });
  const find = async () => {
    const viewer = { userId: member.user.id, boundOrgId: null };
    const query = { type: "agent", name: "reviewer", orgId: null, viewer } as const;
    const [row] = await db.sql<{ id: string }[]>`${visibleLine(query, [], { countsDrafts: false })}`;
    return row?.id;
  };
  expect(await find()).toBe(own.lineId);
  const other = await makeDefinition(db.sql, author, {
    name: "reviewer",
    status: "deprecated",
    visibility: "public",
  });
  expect(await find()).toBe(other.lineId);
});
