import { expect, test } from "bun:test";
import { listDependents, listReferencedRanges } from "../../../sql/definitions/dependents.ts";
import { makeDefinition } from "../../helpers/definitions/definitions.ts";
import { createTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

test("finds dependents by the index of names, which omits names that are too long for an index entry", async () => {
  await using db = await createTestDatabase();
  const person = await createFactory(db.sql).person();
  const { lineId } = await makeDefinition(db.sql, person, { name: "base", status: "published" });
  const user = await makeDefinition(db.sql, person, { name: "user", status: "published" });
  // Builds the long name from digests, because PostgreSQL would compress a repetitive text.
  await db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select
      ${user.id}, n, 'agent',
      case
        when n = 1 then 'base'
        when n = 2 then (select string_agg(md5(m::text), '') from generate_series(1, 1000) as m)
        else 'other-' || n
      end,
      '^1.0.0', 'dependencies.requires', true
    from generate_series(1, 3000) as n`;
  await db.owner`analyze definition_references`;
  const target = { type: "agent", name: "base", orgId: person.org.id, lineId } as const;
  const viewer = { userId: person.user.id, boundOrgId: null };
  const statements: [text: string, values: never[]][] = [];
  db.sql.options.debug = (_connection, text, values) => void statements.push([text, values as never[]]);
  const ranges = await listReferencedRanges(db.sql, { target, viewer });
  const { total } = await listDependents(db.sql, { target, ranges, viewer, limit: 10 });
  db.sql.options.debug = false;
  expect([ranges, total]).toEqual([["^1.0.0"], 1]);
  const read = statements.filter(([text]) => text.includes("from definition_references"));
  expect(read).toHaveLength(2);
  for (const [text, values] of read) {
    const plan = JSON.stringify(await db.sql.unsafe(`explain ${text}`, values));
    expect(plan).toContain(
      "Index Scan using definition_references_plain_name_idx on definition_references r",
    );
  }
});
