/** Table `definition_references`: what versions name in their documents, and what those names come to. */
import type { DefinitionType } from "../shared/vocabulary.ts";
import { type DefinitionViewer, isVisible } from "./definition_visibility.ts";
import type { Sql } from "./pool.ts";

export interface DefinitionReferenceRow {
  type: DefinitionType;
  /** As it is written, and so perhaps no name at all. */
  name: string;
  range: string;
  /** Where it stands, such as `phase checks`. */
  context: string;
  /** False for what starts a pipeline and is not run by it. */
  inTree: boolean;
}

/** The references of a version, in the order of its document. */
export async function listDefinitionReferences(
  sql: Sql,
  definitionId: string,
): Promise<DefinitionReferenceRow[]> {
  return sql<DefinitionReferenceRow[]>`
    select type, name, range, context, in_tree
    from definition_references
    where definition_id = ${definitionId}
    order by position`;
}

/** References of several versions at once, in the order of each document. */
export async function listReferencesOf(
  sql: Sql,
  definitionIds: readonly string[],
): Promise<(DefinitionReferenceRow & { definitionId: string })[]> {
  return sql<(DefinitionReferenceRow & { definitionId: string })[]>`
    select definition_id, type, name, range, context, in_tree
    from definition_references
    where definition_id = any(${[...definitionIds]}::uuid[])
    order by definition_id, position`;
}

/** A name that a document of an organization holds. */
export interface ReferenceKey {
  type: DefinitionType;
  name: string;
  /** The organization of the document: its own line of that name comes before all others'. */
  orgId: string;
}

/** A version that a reference may come to. */
export interface ReferenceCandidateRow {
  /** The index of the key among those asked for. */
  keyIndex: number;
  id: string;
  orgId: string;
  type: DefinitionType;
  name: string;
  version: string;
  status: "published" | "deprecated" | "archived";
}

/**
 * The versions that names may come to: those of one line each, which is the one of the document's own organization, or
 * else the one that was published first, among the lines of which the viewer may see a version that is no draft. The
 * caller picks by the range.
 */
export async function listReferenceCandidates(
  sql: Sql,
  { keys, viewer }: { keys: readonly ReferenceKey[]; viewer: DefinitionViewer },
): Promise<ReferenceCandidateRow[]> {
  if (keys.length === 0) return [];
  return sql<ReferenceCandidateRow[]>`
    select k.position::int - 1 as key_index, d.id, d.org_id, d.type, d.name, d.version, d.status
    from unnest(
      ${keys.map(({ type }) => type)}::text[], ${keys.map(({ name }) => name)}::text[],
      ${keys.map(({ orgId }) => orgId)}::uuid[]
    ) with ordinality as k (type, name, org_id, position)
    cross join lateral (
      select l.id
      from definition_lines as l
      where l.type = k.type and l.name = k.name
        and exists (
          select
          from definitions as d
          where d.line_id = l.id and d.status <> 'draft' and ${isVisible(sql, viewer)}
        )
      order by l.org_id <> k.org_id, l.first_published_at, l.id
      limit 1
    ) as line
    join definitions as d on d.line_id = line.id
    where d.status <> 'draft' and ${isVisible(sql, viewer)}
    order by k.position, d.version_major desc, d.version_minor desc, d.version_patch desc`;
}

/** Replaces what is stored of the references of a version. Call inside a transaction. */
export async function replaceDefinitionReferences(
  sql: Sql,
  definitionId: string,
  references: readonly DefinitionReferenceRow[],
): Promise<void> {
  await sql`delete from definition_references where definition_id = ${definitionId}`;
  if (references.length === 0) return;
  await sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select ${definitionId}, r.position, r.type, r.name, r.range, r.context, r.in_tree
    from unnest(
      ${references.map(({ type }) => type)}::text[], ${references.map(({ name }) => name)}::text[],
      ${references.map(({ range }) => range)}::text[], ${references.map(({ context }) => context)}::text[],
      ${references.map(({ inTree }) => inTree)}::boolean[]
    ) with ordinality as r (type, name, range, context, in_tree, position)`;
}
