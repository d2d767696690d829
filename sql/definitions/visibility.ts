/** SQL conditions for the definitions that a viewer can see (docs/contract.md, Definitions). */
import { type Fragment, fragment } from "../connection/pool.ts";

/** A reader of definitions. */
export interface DefinitionViewer {
  /** Id of the user; null for anonymous callers. */
  userId: string | null;
  /**
   * Organization that the API key is bound to. The viewer sees drafts and private versions of this organization only. Null allows
   * all of the user's organizations.
   */
  boundOrgId: string | null;
  /** True for a session without a second factor. Organizations that require a second factor are then excluded. */
  isUnproven?: boolean;
  /** True if every version is visible, as for platform administrators who record executions. */
  seesAll?: boolean;
}

/** An anonymous viewer, who sees only what is visible to everyone. */
export const ANONYMOUS: DefinitionViewer = { userId: null, boundOrgId: null };

/** Returns a subquery for the ids of the organizations whose drafts and private versions the viewer sees. */
export function memberOrgIds(viewer: DefinitionViewer): Fragment {
  const isOpen = fragment`
    not exists (select from organizations as o where o.id = m.org_id and o.require_second_factor)`;
  return fragment`
    select m.org_id
    from organization_members as m
    where m.user_id = ${viewer.userId}::uuid
      and (${viewer.boundOrgId}::uuid is null or m.org_id = ${viewer.boundOrgId}::uuid)
      ${viewer.isUnproven ? fragment`and ${isOpen}` : fragment``}`;
}

/** Returns whether `memberOrgIds` includes the organization of this membership. */
export function isMemberOrg(
  { boundOrgId, isUnproven }: DefinitionViewer,
  { orgId, requireSecondFactor }: { orgId: string; requireSecondFactor: boolean },
): boolean {
  return (boundOrgId === null || boundOrgId === orgId) && !(isUnproven && requireSecondFactor);
}

/**
 * Returns the condition that everyone can see a row `d` of `definitions` by name. The index `definitions_open_name_idx` contains
 * only these rows.
 */
export function isOpenVersion(): Fragment {
  return fragment`(d.status <> 'draft' and d.visibility <> 'private' and d.quarantined_at is null)`;
}

/**
 * Returns the condition that the viewer can see a row `d` of `definitions` by name. Drafts, private versions and quarantined
 * versions are visible only to members of their organization. All other versions are visible to everyone. Lists also omit archived
 * versions and the unlisted versions of other organizations.
 */
export function isVisible(viewer: DefinitionViewer): Fragment {
  if (viewer.seesAll) return fragment`true`;
  return viewer.userId === null
    ? isOpenVersion()
    : fragment`(${isOpenVersion()} or d.org_id in (${memberOrgIds(viewer)}))`;
}

/**
 * Returns the condition that the viewer finds a row `d` of `definitions` in lists. The database function `definition_is_public`
 * decides which versions everyone finds, and triggers copy its result to `definition_listings`. Members find all versions of their
 * organizations except archived ones.
 */
export function isListed(viewer: DefinitionViewer): Fragment {
  const isPublic = fragment`(definition_is_public(d.status, d.visibility) and d.quarantined_at is null)`;
  if (viewer.userId === null) return isPublic;
  return fragment`(${isPublic} or d.status <> 'archived' and d.org_id in (${memberOrgIds(viewer)}))`;
}
