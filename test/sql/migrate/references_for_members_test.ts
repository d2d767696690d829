/** Tests how the migration that adds `for_members` treats references of versions that were published before the migration. */
import { expect, test } from "bun:test";
import { migrate } from "../../../sql/migrate.ts";
import { readMigrations } from "../../../sql/migration_files.ts";
import { makeDefinition } from "../../helpers/definitions/definitions.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

const MIGRATION = "20261125101500_definition_references__for_members__add";

test("makes a reference members-only if, and only if, its author could not see the target", async () => {
  await using db = await openTestDatabase();
  const sql = db.owner;
  await sql.unsafe("drop schema public cascade; create schema public");
  const migrations = await readMigrations();
  await migrate(sql, { migrations: migrations.filter(({ name }) => name < MIGRATION) });
  const make = createFactory(sql);
  const [author, other] = [await make.person(), await make.person()];
  const both = await make.person({ org: author.org });
  await make.member({ orgId: other.org.id, userId: both.user.id, role: "viewer" });
  await makeDefinition(sql, other, { name: "open", status: "published", visibility: "public" });
  await makeDefinition(sql, other, { name: "hidden", status: "published" });
  await makeDefinition(sql, other, { name: "drafted" });
  await makeDefinition(sql, author, { name: "own" });
  const published = { status: "published", visibility: "public" } as const;
  const byAuthor = await makeDefinition(sql, author, { name: "by-author", ...published });
  const byMember = await makeDefinition(
    sql,
    { user: both.user, org: author.org },
    { name: "by-member", ...published },
  );
  const draft = await makeDefinition(sql, author, { name: "draft" });
  for (const { id } of [byAuthor, byMember, draft]) {
    for (const [position, name] of ["open", "hidden", "drafted", "missing", "own"].entries()) {
      const orgId = name === "own" ? author.org.id : other.org.id;
      await sql`
        insert into definition_references (definition_id, position, type, name, range, context, in_tree, target_org_id)
        values (${id}, ${position}, 'agent', ${name}, 'latest', 'requires', true, ${orgId})`;
    }
  }
  expect((await migrate(sql)).applied).toContain(MIGRATION);
  const rows = await sql<{ by: string; name: string }[]>`
    select d.name as by, r.name
    from definition_references as r
    join definitions as d on d.id = r.definition_id
    where r.for_members
    order by d.name, r.position`;
  expect(rows.map(({ by, name }) => `${by} ${name}`)).toEqual([
    "by-author hidden",
    "by-author drafted",
    "by-author missing",
    "by-member drafted",
    "by-member missing",
  ]);
});
