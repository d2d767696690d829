import { expect, test } from "bun:test";
import { decodeJson, type JsonText } from "../../shared/json_text.ts";
import { type DefinitionListQuery, listDefinitions } from "../../sql/definition_search.ts";
import { resolveDefinitionText } from "../../sql/definition_texts.ts";
import { RowTexts } from "../../sql/row_texts.ts";
import { openTestDatabase } from "../helpers/database.ts";
import { ALL_DEFINITIONS, makeVersion, openLists } from "../helpers/definition_list.ts";
import { createFactory } from "../helpers/factory.ts";

/** More than are looked up one by one. */
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

test("many matches are read in the order of an index, a few in it by their slots, and pages of both join", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using lists = openLists(db);
  const person = await createFactory(sql).person();
  const owner = { orgId: person.org.id, authorId: person.user.id };
  await sql.begin(async (tx) => {
    await tx`
      insert into definition_lines (org_id, type, name, execution_count)
      select ${owner.orgId}, 'agent', 'line-' || n, n % 7 from generate_series(1, ${MANY}::int) as n`;
    await tx`
      insert into definitions (
        line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, description, author_id,
        change_type, created_at, published_at
      )
      select
        id, org_id, type, name, '1.0.0', 'published', 'public', '', ${`sha256:${"0".repeat(64)}`}, 'Common',
        'a common word', ${owner.authorId}, 'major', '2026-01-01'::timestamptz + execution_count * interval '1 day', now()
      from definition_lines`;
  });
  const best = await makeVersion(sql, { ...owner, name: "common" });
  const second = await makeVersion(sql, { ...owner, name: "common-sense" });
  await makeVersion(sql, { ...owner, name: "other" });
  for (const sortBy of [null, "name", "createdAt", "executionCount"] as const) {
    for (const sortOrder of ["asc", "desc"] as const) {
      const walked: string[] = [];
      for (let offset = 0; offset < MANY + 100; offset += 100) {
        const page = await listDefinitions(lists, { ...ALL, search: "common", sortBy, sortOrder, offset });
        expect(page.total).toBe(MANY + 2);
        walked.push(...idsOf(page.items));
      }
      expect(walked).toHaveLength(MANY + 2);
      expect(walked).toEqual(await naiveOrder(sortBy, sortOrder));
    }
  }

  async function naiveOrder(sortBy: DefinitionListQuery["sortBy"], sortOrder: "asc" | "desc") {
    const rows = await sql<{ id: string }[]>`
      select d.id
      from definitions as d
      join definition_lines as l on l.id = d.line_id
      where d.name <> 'other'
      order by
        case when ${sortBy === null} then array_position(${[best, second]}::uuid[], d.id) end,
        ${
          sortBy === "executionCount"
            ? sql`l.execution_count, l.id`
            : sortBy === "name"
              ? sql`d.name collate "C", d.id`
              : sql`d.created_at, d.id`
        }`;
    const ids = rows.map(({ id }) => id);
    if (sortOrder === "asc") return ids;
    return sortBy === null ? [best, second, ...ids.slice(2).reverse()] : ids.reverse();
  }
}, 60_000);

test("transactions that change lines side by side, in any order, leave every bit as it has to be", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using lists = openLists(db);
  const person = await createFactory(sql).person();
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, number) =>
      makeVersion(sql, {
        orgId: person.org.id,
        authorId: person.user.id,
        name: `line-${number}`,
        status: "draft",
      }),
    ),
  );
  await Promise.all(
    Array.from({ length: 4 }, (_, writer) =>
      sql.begin(async (tx) => {
        const own = ids.filter((_id, number) => number % 4 === writer);
        for (const id of writer % 2 === 0 ? own : own.toReversed()) {
          await tx`update definitions set status = 'published', published_at = now(), domain = 'legal' where id = ${id}`;
        }
      }),
    ),
  );
  const { items, total } = await listDefinitions(lists, {
    ...ALL,
    filters: { ...ALL.filters, domain: "legal" },
  });
  expect([total, idsOf(items).toSorted()]).toEqual([12, ids.toSorted()]);
  // Each bit again, from what every listing says of itself.
  const wrong = await sql`
    select p.term, p.chunk
    from definition_postings as p
    where bit_count(p.bits) <> (
      select count(*)
      from definition_listing_terms as t
      where t.terms @> array[p.term] and t.slot >> 15 = p.chunk and get_bit(p.bits, t.slot & 32767) = 1
    )`;
  expect([...wrong]).toEqual([]);
});

test("what was read before is not made again, until one of its rows has changed", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  await using lists = openLists(db);
  const { org, user } = await createFactory(sql).person();
  const names = ["one", "two"];
  for (const name of names) await makeVersion(sql, { orgId: org.id, authorId: user.id, name });
  const list = async () => (await listDefinitions(lists, { ...ALL, sortBy: "name", sortOrder: "asc" })).items;
  const read = async (name: string, includeYaml = true) => {
    const query = { type: "agent", name, version: null, orgId: null, viewer: ALL.viewer } as const;
    const shown = { includeYaml, includeRuntime: true, withDocument: false };
    return (await resolveDefinitionText({ sql, texts: lists.texts }, query, shown)).definition?.text;
  };
  const readAll = async () => [...(await list()), ...(await Promise.all(names.map((name) => read(name))))];
  const before = await readAll();
  const isSame = (after: typeof before) => after.map((text, index) => text === before[index]);
  expect(isSame(await readAll())).toEqual([true, true, true, true]);
  expect(await read("one", false)).not.toBe(await read("one"));
  await sql`update definition_lines set execution_count = 1 where name = 'one'`;
  expect(isSame(await readAll())).toEqual([false, true, false, true]);
});

test("the items of a page are of one moment, though most pages take two statements", async () => {
  await using db = await openTestDatabase();
  await using lists = openLists(db);
  const { org, user } = await createFactory(db.sql).person();
  for (const type of ["agent", "command"] as const) {
    await makeVersion(db.sql, { orgId: org.id, authorId: user.id, name: type, type });
  }
  const agents = { ...ALL, filters: { ...ALL.filters, type: "agent" } } as const;
  const writing = new AbortController();
  const write = async () => {
    while (!writing.signal.aborted) {
      await db.sql`update definition_lines set execution_count = execution_count + 1`;
      await Bun.sleep(Math.random() * 2);
    }
  };
  const written = write();
  for (let round = 0; round < 1000; round += 1) {
    // One of two is known, and the other has to be asked for.
    const texts = new RowTexts();
    await listDefinitions({ ...lists, texts }, agents);
    const { items } = await listDefinitions({ ...lists, texts }, ALL);
    const counts = items.map(
      (item) => (JSON.parse(decodeJson(item)) as { executionCount: number }).executionCount,
    );
    expect([counts.length, new Set(counts).size]).toEqual([2, 1]);
  }
  writing.abort();
  await written;
});

function idsOf(items: readonly JsonText[]): string[] {
  return items.map((item) => (JSON.parse(decodeJson(item)) as { id: string }).id);
}
