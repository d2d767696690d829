/** Resolves references to a line and its versions (docs/contract.md, Definitions). */
import type { VersionInterval } from "../../shared/definitions/version_range.ts";
import { type Fragment, fragment, type Sql } from "../connection/pool.ts";
import { chosenLine, type DefinitionLineKey, lineOfKey } from "./definition_lines.ts";
import { type DefinitionViewer, isVisible, memberOrgIds } from "./visibility.ts";

/**
 * Returns an expression for the organization that a reference `r` of a version `d` would be bound to now. The order of precedence
 * is: the organization in the reference, the document's own organization if it has a line of that name, then the organization of
 * the line that the name resolves to for the viewer. If there is no such line, the value is the document's own organization, so
 * that no other organization can claim the name later. Null if the organization in the reference does not exist.
 */
export function liveTarget(viewer: DefinitionViewer): Fragment {
  const named = { type: fragment`r.type`, name: fragment`r.name` };
  return fragment`
    case
      when r.org_slug is not null then (select o.id from organizations as o where o.slug = r.org_slug)
      else coalesce(
        (select l.org_id from ${lineOfKey({ orgId: fragment`d.org_id`, ...named })} as l),
        ${chosenLine(viewer, {
          column: "org_id",
          ...named,
          orgId: null,
          preferences: [fragment`true`],
          countsDrafts: false,
        })},
        d.org_id
      )
    end`;
}

/**
 * Returns an expression for the organization that a reference `r` of a version `d` refers to. A published version refers to the
 * organization that the reference was bound to at publication. A draft refers to the organization that would be bound if the viewer
 * published the draft now. Previews therefore agree with publishing, and do not reveal lines that only the author can see. The
 * value is null if there is no such organization. It is also null for non-members if the reference is for members only
 * (`markReferencesForMembers`).
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

/** The versions of a line in one interval of a range. */
interface CandidateInterval extends DefinitionLineKey, VersionInterval {}

/**
 * Returns the version that each interval resolves to. This is the highest published version that the viewer can see, else the
 * highest deprecated version, else the archived version if the interval allows only one version number. Skips quarantined versions,
 * and omits intervals without a version. `place` is the interval's index. Each choice is read from an index, because lines may have
 * thousands of versions.
 */
export async function listReferenceCandidates(
  sql: Sql,
  { intervals, viewer }: { intervals: readonly CandidateInterval[]; viewer: DefinitionViewer },
): Promise<(ReferenceCandidateRow & { place: number })[]> {
  if (intervals.length === 0) return [];
  const highest = (status: ReferenceCandidateRow["status"], condition = fragment`true`) => fragment`(
    select d.id
    from definitions as d
    where d.line_id = l.id and d.status = ${status} and ${condition}
      and (d.version_major, d.version_minor, d.version_patch) >= (i.low[1], i.low[2], i.low[3])
      and (d.version_major, d.version_minor, d.version_patch) < (i.high[1], i.high[2], i.high[3])
      and d.quarantined_at is null and ${isVisible(viewer)}
    order by d.version_major desc, d.version_minor desc, d.version_patch desc
    limit 1
  )`;
  const isExact = fragment`i.high = array[i.low[1], i.low[2], i.low[3] + 1]`;
  return sql<(ReferenceCandidateRow & { place: number })[]>`
    select (g.place - 1)::int as place, found.id, l.org_id, o.slug as organization, l.type, l.name, found.version, found.status
    from unnest(
      ${intervals.map(({ orgId }) => orgId)}::uuid[], ${intervals.map(({ type }) => type)}::text[],
      ${intervals.map(({ name }) => name)}::text[],
      ${intervals.map(({ from }) => `{${from.join()}}`)}::text[], ${intervals.map(({ to }) => `{${to.join()}}`)}::text[]
    ) with ordinality as g (org_id, type, name, low, high, place)
    cross join lateral (select g.low::bigint[] as low, g.high::bigint[] as high) as i
    cross join lateral ${lineOfKey({ orgId: fragment`g.org_id`, type: fragment`g.type`, name: fragment`g.name` })} as l
    join organizations as o on o.id = l.org_id
    join definitions as found
      on found.id = coalesce(${highest("published")}, ${highest("deprecated")}, ${highest("archived", isExact)})`;
}
