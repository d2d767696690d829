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

/** A reference that is followed when the definition runs. */
export interface TreeReferenceRow {
  definitionId: string;
  /** The organization of the document. */
  orgId: string;
  type: DefinitionType;
  name: string;
  range: string;
  context: string;
}

/**
 * What several versions need to run: those of the first version before those of the second, in the order of each
 * document, and no more than `limit` in all.
 */
export async function listTreeReferences(
  sql: Sql,
  { definitionIds, limit }: { definitionIds: readonly string[]; limit: number },
): Promise<TreeReferenceRow[]> {
  return sql<TreeReferenceRow[]>`
    select r.definition_id, d.org_id, r.type, r.name, r.range, r.context
    from unnest(${[...definitionIds]}::uuid[]) with ordinality as given (id, position)
    join definitions as d on d.id = given.id
    join definition_references as r on r.definition_id = d.id
    where r.in_tree
    order by given.position, r.position
    limit ${limit}`;
}

/** Any number that nothing else locks. */
const GRAPH_LOCK = 7_311_003;

/**
 * Makes whoever else publishes what depends on something wait until this transaction ends: two that depend on each
 * other see no loop when they are published at once. Call inside a transaction.
 */
export async function lockDependencyGraph(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(${GRAPH_LOCK})`;
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
  const isKnown = sql`exists (
    select
    from definitions as d
    where d.line_id = l.id and d.status <> 'draft' and ${isVisible(sql, viewer)}
  )`;
  return sql<ReferenceCandidateRow[]>`
    select k.position::int - 1 as key_index, d.id, d.org_id, d.type, d.name, d.version, d.status
    from unnest(
      ${keys.map(({ type }) => type)}::text[], ${keys.map(({ name }) => name)}::text[],
      ${keys.map(({ orgId }) => orgId)}::uuid[]
    ) with ordinality as k (type, name, org_id, position)
    join definitions as d on d.line_id = coalesce(
      (
        select l.id
        from definition_lines as l
        where l.org_id = k.org_id and l.type = k.type and l.name = k.name and ${isKnown}
      ),
      (
        select l.id
        from definition_lines as l
        where l.type = k.type and l.name = k.name and ${isKnown}
        order by l.first_published_at, l.created_at, l.id
        limit 1
      )
    )
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
  const rows = references.map(({ type, name, range, context, inTree }, position) => {
    return { position, type, name, range, context, inTree };
  });
  await sql`
    insert into definition_references (definition_id, position, type, name, range, context, in_tree)
    select ${definitionId}, r.position, r.type, r.name, r.range, r.context, r."inTree"
    from jsonb_to_recordset(${sql.json(rows)})
      as r (position int, type text, name text, range text, context text, "inTree" boolean)`;
}
