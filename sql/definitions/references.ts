/** Table `definition_references`: the references in the documents of versions. */
import type { QualifiedName } from "../../shared/definitions/edit.ts";
import type { DefinitionReference } from "../../shared/definitions/references.ts";
import { fragment, type Sql, tableRows } from "../connection/pool.ts";
import { lineOfKey } from "./definition_lines.ts";
import { liveTarget, targetOrg } from "./reference_candidates.ts";
import { type DefinitionViewer, isVisible, memberOrgIds } from "./visibility.ts";

export interface DefinitionReferenceRow extends DefinitionReference {
  /**
   * Id of the organization that the reference resolves to (`targetOrg`): at publication for a published version, now for a draft.
   * Null if the organization does not exist. Also null for non-members if the reference is for members only.
   */
  targetOrgId: string | null;
}

/** A reference with the version whose document contains it. */
export interface VersionReferenceRow extends DefinitionReferenceRow {
  definitionId: string;
  /** Index of the reference in the version's document. */
  position: number;
  /** Id of the version's organization. */
  orgId: string;
}

/** Returns the references of versions, resolved for the viewer, in document order within each version. */
export async function listDefinitionReferences(
  sql: Sql,
  { definitionIds, viewer }: { definitionIds: readonly string[]; viewer: DefinitionViewer },
): Promise<VersionReferenceRow[]> {
  return sql<VersionReferenceRow[]>`
    select
      r.definition_id, r.position, d.org_id, r.type, r.org_slug, r.name, r.range, r.context, r.in_tree,
      ${targetOrg(viewer)} as target_org_id
    from definition_references as r
    join definitions as d on d.id = r.definition_id
    where r.definition_id = any(${[...definitionIds]}::uuid[])
    order by r.definition_id, r.position`;
}

/**
 * Returns which of the bare `references` refer to organizations that the author, `viewer`, does not belong to. Omits a reference if
 * another version of the line that is not a draft already has a bare reference to the same definition.
 */
export async function listNewForeignReferences(
  sql: Sql,
  { references, viewer }: { references: readonly VersionReferenceRow[]; viewer: DefinitionViewer },
): Promise<Pick<VersionReferenceRow, "definitionId" | "position">[]> {
  if (references.length === 0) return [];
  return sql<Pick<VersionReferenceRow, "definitionId" | "position">[]>`
    select r.definition_id, r.position
    from unnest(
      ${references.map(({ definitionId }) => definitionId)}::uuid[],
      ${references.map(({ position }) => position)}::int[],
      ${references.map(({ targetOrgId }) => targetOrgId)}::uuid[]
    ) as given (definition_id, position, target_org_id)
    join definition_references as r on r.definition_id = given.definition_id and r.position = given.position
    join definitions as d on d.id = r.definition_id
    where given.target_org_id not in (${memberOrgIds(viewer)})
      and not exists (
        select
        from definitions as v
        join definition_references as p on p.definition_id = v.id
        where v.line_id = d.line_id and v.id <> d.id and v.status <> 'draft' and p.org_slug is null
          and p.type = r.type and p.name = r.name and p.target_org_id = given.target_org_id
      )`;
}

/**
 * Returns the bare names of a version that resolve to lines outside the organization `orgId`, each with its target organization. If
 * the viewer cannot see the target line, the version's organization is returned instead, so that the line's owner stays hidden.
 */
export async function listForeignNames(
  sql: Sql,
  { definitionId, viewer, orgId }: { definitionId: string; viewer: DefinitionViewer; orgId: string },
): Promise<QualifiedName[]> {
  return sql<QualifiedName[]>`
    select r.type, r.name, o.slug as org_slug
    from (
      select distinct r.type, r.name, d.org_id, ${targetOrg(viewer)} as target_org_id
      from definition_references as r
      join definitions as d on d.id = r.definition_id
      where r.definition_id = ${definitionId} and r.org_slug is null
    ) as r
    join organizations as o on o.id = case
      when exists (
        select
        from ${lineOfKey({ orgId: fragment`r.target_org_id`, type: fragment`r.type`, name: fragment`r.name` })} as l
        join definitions as d on d.line_id = l.id
        where ${isVisible(viewer)}
      ) then r.target_org_id
      else r.org_id
    end
    where r.target_org_id is distinct from ${orgId}`;
}

export interface TreeReferenceRow extends Omit<DefinitionReferenceRow, "inTree"> {
  definitionId: string;
}

/** Returns the first `limit` tree references of several versions, in the order of the versions and then in document order. */
export async function listTreeReferences(
  sql: Sql,
  options: { definitionIds: readonly string[]; viewer: DefinitionViewer; limit: number },
): Promise<TreeReferenceRow[]> {
  return sql<TreeReferenceRow[]>`
    select
      r.definition_id, r.type, r.org_slug, r.name, r.range, r.context,
      ${targetOrg(options.viewer)} as target_org_id
    from unnest(${[...options.definitionIds]}::uuid[]) with ordinality as given (id, position)
    join definitions as d on d.id = given.id
    join definition_references as r on r.definition_id = d.id
    where r.in_tree
    order by given.position, r.position
    limit ${options.limit}`;
}

/**
 * Returns the tree references of the last ten versions of the same line that were published before each given version. A reference
 * is returned as text: the given version's id and the reference's organization id, type, name and range, separated by spaces. The
 * result is limited to 50,000 rows, because other publications wait for this query.
 */
export async function listNeededBefore(sql: Sql, versions: readonly { id: string }[]): Promise<Set<string>> {
  const rows = await sql<{ needed: string }[]>`
    select concat_ws(' ', d.id, r.target_org_id, r.type, r.name, r.range) as needed
    from definitions as d
    cross join lateral (
      select v.id
      from definitions as v
      where v.line_id = d.line_id and v.published_at < d.published_at
      order by v.published_at desc
      limit 10
    ) as earlier
    join definition_references as r on r.definition_id = earlier.id and r.in_tree
    where d.id = any(${versions.map(({ id }) => id)}::uuid[])
    limit 50000`;
  return new Set(rows.map(({ needed }) => needed));
}

/** Replaces the stored references of a draft. Publication binds the new references to organizations. Call inside a transaction. */
export async function replaceDefinitionReferences(
  sql: Sql,
  definitionId: string,
  references: readonly DefinitionReference[],
): Promise<void> {
  await sql`delete from definition_references where definition_id = ${definitionId}`;
  await insertDefinitionReferences(sql, [{ id: definitionId, references }]);
}

/** Number of references per insert statement: about 200 KB of JSON. */
const REFERENCES_PER_INSERT = 2_000;

/** Adds the references of new versions. Publication binds them to organizations. Call inside a transaction. */
export async function insertDefinitionReferences(
  sql: Sql,
  versions: readonly { id: string; references: readonly DefinitionReference[] }[],
): Promise<void> {
  const rows = versions.flatMap(({ id, references }) =>
    references.map(({ type, orgSlug, name, range, context, inTree }, position) => {
      return { definitionId: id, position, type, orgSlug, name, range, context, inTree };
    }),
  );
  for (let first = 0; first < rows.length; first += REFERENCES_PER_INSERT) {
    const piece = rows.slice(first, first + REFERENCES_PER_INSERT);
    await sql`
      insert into definition_references (definition_id, position, type, org_slug, name, range, context, in_tree)
      select definition_id, position, type, org_slug, name, range, context, in_tree
      from ${tableRows(sql, "definition_references", piece)} as r`;
  }
}

/**
 * Binds each reference of these versions permanently to the organization that it now resolves to for the author, `viewer`. Call
 * inside the publishing transaction.
 */
export async function settleDefinitionReferences(
  sql: Sql,
  { definitionIds, viewer }: { definitionIds: readonly string[]; viewer: DefinitionViewer },
): Promise<void> {
  await sql`
    update definition_references as r
    set target_org_id = ${liveTarget(viewer)}
    from definitions as d
    where d.id = r.definition_id and d.id = any(${[...definitionIds]}::uuid[])`;
}

/**
 * Restricts references of published versions to members of the version's organization. Non-members can never resolve these
 * references. Call inside the publishing transaction, with the references to other organizations that the author cannot resolve.
 * Otherwise an author could refer to a definition that they cannot see and create a cycle that its owner would have to break.
 */
export async function markReferencesForMembers(
  sql: Sql,
  references: readonly Pick<VersionReferenceRow, "definitionId" | "position">[],
): Promise<void> {
  if (references.length === 0) return;
  await sql`
    update definition_references as r
    set for_members = true
    from unnest(
      ${references.map(({ definitionId }) => definitionId)}::uuid[],
      ${references.map(({ position }) => position)}::int[]
    ) as given (definition_id, position)
    where r.definition_id = given.definition_id and r.position = given.position`;
}
