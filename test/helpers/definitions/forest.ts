/** Creates definitions with many dependencies. */
import type { TestDatabase } from "../postgres/database.ts";
import type { Person } from "../postgres/factory.ts";
import { makeDefinition } from "./definitions.ts";

/**
 * Creates a dependency tree of `size` nodes with the root `node-1`. Node n depends on nodes 10 n - 8 to 10 n + 1, as
 * far as they exist. Each node has three versions.
 */
export async function makeForest(db: TestDatabase, maker: Person, size: number): Promise<void> {
  await makeLines(db, maker, { prefix: "node", lines: size, versions: 3 });
  await db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select d.id, k, 'agent', 'node-' || child, '^1.0.0', 'dependencies.requires', true
    from definitions as d, generate_series(-8, 1) as k,
      lateral (select 10 * substr(d.name, 6)::int + k as child) as c
    where d.org_id = ${maker.org.id} and d.name like 'node-%' and c.child <= ${size}`;
  await db.owner`analyze definitions, definition_lines, definition_references`;
}

/**
 * Creates a published agent with 19,000 references, each to a different range of one line. Resolving them takes
 * minutes, because all 5,000 versions of the line are archived and must be skipped.
 */
export async function makeHub(db: TestDatabase, maker: Person, name: string): Promise<void> {
  await makeLines(db, maker, { prefix: "wide", lines: 1, versions: 5_000, status: "archived" });
  const { id } = await makeDefinition(db.sql, maker, { name, status: "published" });
  await db.sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select ${id}, n, 'agent', 'wide-1', '>=0.' || n || '.0 <9.9', 'dependencies.requires', true
    from generate_series(1, 19000) as n`;
}

/** Creates lines `prefix-1`, `prefix-2` and so on, each with the versions 1.0.0, 1.1.0 and so on. */
export async function makeLines(
  { sql, owner }: TestDatabase,
  { org, user }: Person,
  options: { prefix: string; lines: number; versions: number; status?: "published" | "archived" },
): Promise<void> {
  const { prefix, lines, versions, status = "published" } = options;
  const ended = status === "archived" ? "2026-01-01T00:00:00Z" : null;
  // Skips the triggers that maintain listings and byte counts, because no test lists these versions.
  await owner`alter table definitions disable trigger user`;
  await sql`
    with line as (
      insert into definition_lines (org_id, type, name, first_published_at)
      select ${org.id}, 'agent', ${prefix} || '-' || n, '2026-01-01T00:00:00Z'
      from generate_series(1, ${lines}::int) as n
      returning *
    )
    insert into definitions (
      line_id, org_id, type, name, version, status, visibility, yaml, hash, display_name, author_id, change_type,
      published_at, deprecated_at, archived_at, deprecation_reason
    )
    select
      l.id, l.org_id, l.type, l.name, '1.' || v || '.0', ${status}, 'public', 'agent:', 'sha256:' || repeat('0', 64),
      l.name, ${user.id}, 'major', '2026-01-01T00:00:00Z', ${ended}, ${ended}, ${ended}
    from line as l, generate_series(0, ${versions}::int - 1) as v`;
  await owner`alter table definitions enable trigger user`;
}
