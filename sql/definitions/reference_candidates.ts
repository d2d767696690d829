/** Resolves references to a line and its versions (docs/contract.md, Definitions). */
import { type Fragment, fragment, type Sql } from "../connection/pool.ts";
import { chosenLine, type DefinitionLineKey } from "./lines.ts";
import { type DefinitionViewer, isVisible, memberOrgIds } from "./visibility.ts";

/**
 * Returns the organization that a reference `r` of a version `d` would be bound to now: the organization in the reference,
 * else the document's own if it has a line of the name, else the organization of the line that the name resolves to for
 * the viewer. If there is no such line, it is the document's own organization, so that no other one can add the line.
 */
export function liveTarget(viewer: DefinitionViewer): Fragment {
  return fragment`
    case
      when r.org_slug is not null then (select o.id from organizations as o where o.slug = r.org_slug)
      else coalesce(
        (
          select l.org_id
          from definition_lines as l
          where l.type = r.type and l.name = r.name and l.org_id = d.org_id
        ),
        ${chosenLine(viewer, {
          column: "org_id",
          isNamed: fragment`l.type = r.type and l.name = r.name`,
          preferences: [fragment`true`],
          countsDrafts: false,
        })},
        d.org_id
      )
    end`;
}

/**
 * Returns the organization that a reference `r` of a version `d` refers to: the one it was bound to at publication, or for
 * a draft the one it would be bound to if the viewer published it now. So previews agree with publishing, and no one
 * learns of lines that only the author can see. Null if there is no such organization, or if the reference is for members
 * only (`markReferencesForMembers`) and the viewer is not a member.
 */
export function targetOrg(viewer: DefinitionViewer): Fragment {
  return fragment`
    case
      when d.status = 'draft' then ${liveTarget(viewer)}
      when r.for_members and d.org_id not in (${memberOrgIds(viewer)}) then null
      else coalesce(r.target_org_id, case when r.org_slug is null then d.org_id end)
    end`;
}

/** A version that a reference may resolve to. */
export interface ReferenceCandidateRow extends DefinitionLineKey {
  id: string;
  /** The organization's slug. */
  organization: string;
  version: string;
  status: "published" | "deprecated" | "archived";
}

/** Returns the versions that the viewer can see, without drafts and quarantined ones; the caller applies the range. */
export async function listReferenceCandidates(
  sql: Sql,
  { keys, viewer }: { keys: readonly DefinitionLineKey[]; viewer: DefinitionViewer },
): Promise<ReferenceCandidateRow[]> {
  if (keys.length === 0) return [];
  return sql<ReferenceCandidateRow[]>`
    select d.id, d.org_id, o.slug as organization, d.type, d.name, d.version, d.status
    from unnest(
      ${keys.map(({ orgId }) => orgId)}::uuid[], ${keys.map(({ type }) => type)}::text[],
      ${keys.map(({ name }) => name)}::text[]
    ) as k (org_id, type, name)
    join definition_lines as l on l.org_id = k.org_id and l.type = k.type and l.name = k.name
    join definitions as d on d.line_id = l.id
    join organizations as o on o.id = d.org_id
    where d.status <> 'draft' and d.quarantined_at is null and ${isVisible(viewer)}
    order by d.line_id, d.version_major desc, d.version_minor desc, d.version_patch desc`;
}
