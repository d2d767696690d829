/** SQL conditions for what a viewer can see of the registry (docs/contract.md, Definitions). */
import { type Fragment, fragment } from "../connection/pool.ts";

/** The reader of definitions. */
export interface DefinitionViewer {
  /** Null for anonymous callers. */
  userId: string | null;
  /** A bound key sees drafts and private versions of this organization only; null for all of the user's. */
  boundOrgId: string | null;
  /** Set for a session without a second factor: organizations that require one are left out. */
  isUnproven?: boolean;
  /** True if every version is visible, as for platform administrators who record executions. */
  seesAll?: boolean;
}

/** A viewer who sees only what everyone sees. */
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

/** Whether the viewer is a member of the organization of this membership, as `memberOrgIds` says. */
export function isMemberOrg(
  { boundOrgId, isUnproven }: DefinitionViewer,
  { orgId, requireSecondFactor }: { orgId: string; requireSecondFactor: boolean },
): boolean {
  return (boundOrgId === null || boundOrgId === orgId) && !(isUnproven && requireSecondFactor);
}

/**
 * Returns the condition that everyone can see a row `d` of `definitions` by name. The index `definitions_open_name_idx` has
 * these rows.
 */
export function isOpenVersion(): Fragment {
  return fragment`(d.status <> 'draft' and d.visibility <> 'private' and d.quarantined_at is null)`;
}

/**
 * Returns the condition that the viewer can see a row `d` of `definitions` by name: drafts, private and quarantined versions
 * are for members, all others for everyone. Lists also leave out archived versions, and unlisted ones of others.
 */
export function isVisible(viewer: DefinitionViewer): Fragment {
  if (viewer.seesAll) return fragment`true`;
  return viewer.userId === null
    ? isOpenVersion()
    : fragment`(${isOpenVersion()} or d.org_id in (${memberOrgIds(viewer)}))`;
}

/**
 * Returns the condition that the viewer finds a row `d` of `definitions` in lists. The database function
 * `definition_is_public` says what everyone finds, and triggers copy it to `definition_listings`. Members find all but
 * archived versions.
 */
export function isListed(viewer: DefinitionViewer): Fragment {
  const isPublic = fragment`(definition_is_public(d.status, d.visibility) and d.quarantined_at is null)`;
  if (viewer.userId === null) return isPublic;
  return fragment`(${isPublic} or d.status <> 'archived' and d.org_id in (${memberOrgIds(viewer)}))`;
}
