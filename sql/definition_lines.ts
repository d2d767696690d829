/** Table `definition_lines`: what a name stands for in an organization. Its versions are in `definitions`. */
import type { DefinitionType } from "../shared/vocabulary.ts";
import { type DefinitionViewer, isVisible } from "./definition_visibility.ts";
import type { Sql } from "./pool.ts";

export interface DefinitionLineKey {
  orgId: string;
  type: DefinitionType;
  name: string;
}

/** What a name is looked up by. */
export interface DefinitionLineQuery {
  type: DefinitionType;
  name: string;
  viewer: DefinitionViewer;
  /** Only in this organization; `null` when in all of them. */
  orgId: string | null;
}

/**
 * The line that a name stands for on a read, as a subquery of one `id` or none: among the lines of which the viewer
 * may see any version, the one that was published first (contract section 5).
 */
export function visibleLine(sql: Sql, query: DefinitionLineQuery) {
  return sql`
    select l.id
    from definition_lines as l
    where l.type = ${query.type} and l.name = ${query.name}
      and (${query.orgId}::uuid is null or l.org_id = ${query.orgId}::uuid)
      and exists (select from definitions as d where d.line_id = l.id and ${isVisible(sql, query.viewer)})
    order by l.first_published_at nulls last, l.created_at, l.id
    limit 1`;
}

/** Finds the line of a name in an organization; the id, or `null` when there is none. */
export async function findLineId(sql: Sql, key: DefinitionLineKey): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from definition_lines
    where org_id = ${key.orgId} and type = ${key.type} and name = ${key.name}`;
  return row?.id ?? null;
}

/**
 * The id of the line of a name, which is made when there is none. Whoever else adds or deletes versions of it waits
 * until this transaction ends. Call inside a transaction.
 */
export async function upsertLine(sql: Sql, key: DefinitionLineKey): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    insert into definition_lines (org_id, type, name)
    values (${key.orgId}, ${key.type}, ${key.name})
    on conflict on constraint definition_lines_org_id_type_name_key do update
    set name = excluded.name
    returning id`;
  return row.id;
}

/** Makes whoever else adds or deletes versions of the line wait. Call inside a transaction. */
export async function lockLine(sql: Sql, id: string): Promise<void> {
  await sql`
    select
    from definition_lines
    where id = ${id}
    for no key update`;
}

/** Notes that a version of the line was published; only the first time counts. */
export async function markLinePublished(sql: Sql, id: string): Promise<void> {
  await sql`
    update definition_lines
    set first_published_at = now()
    where id = ${id} and first_published_at is null`;
}

/** Deletes a line that has no version any more, so that its name is free. True when it had none. */
export async function deleteEmptyLine(sql: Sql, id: string): Promise<boolean> {
  const deleted = await sql`
    delete from definition_lines as l
    where l.id = ${id} and not exists (select from definitions as d where d.line_id = l.id)
    returning l.id`;
  return deleted.length > 0;
}
