/**
 * Deletion of organizations. An owner schedules the deletion and can cancel it until it is due. A background job then carries it
 * out.
 */
import { firstRow, firstValue, type Sql } from "../connection/pool.ts";
import { insertDefinitionEvents } from "../events/events.ts";
import type { Boss } from "../job_queue.ts";
import { type AccountMailDetails, queueAccountMails } from "./account_mails.ts";
import type { OrgRow } from "./orgs.ts";
import { findUser } from "./users.ts";

/** Days between an owner's request and the deletion of an organization. The organization can be restored until then. */
export const ORG_RESTORE_DAYS = 7;

/**
 * Schedules the deletion of an organization and returns the time of the deletion. Returns null if the organization is deleted or
 * already scheduled for deletion.
 */
export async function updateOrgDeletesAt(sql: Sql, orgId: string): Promise<string | null> {
  return firstValue(sql<{ deletesAt: string }[]>`
    update organizations
    set deletes_at = now() + make_interval(days => ${ORG_RESTORE_DAYS}), updated_at = now()
    where id = ${orgId} and deletes_at is null and deleted_at is null
    returning deletes_at`);
}

/** Cancels the deletion of an organization. Returns false if no deletion is scheduled or the organization is deleted. */
export async function markOrgRestored(sql: Sql, orgId: string): Promise<boolean> {
  const { count } = await sql`
    update organizations
    set deletes_at = null, updated_at = now()
    where id = ${orgId} and deletes_at is not null and deleted_at is null`;
  return count === 1;
}

export type DueOrgRow = Pick<OrgRow, "id" | "slug" | "name">;

/**
 * Finds and locks an organization whose deletion is due. Returns null if no deletion is due, or if other transactions have locked
 * all due organizations. An owner's concurrent restore waits for the lock and then has no effect. Call inside a transaction.
 */
export async function lockDueOrg(tx: Sql): Promise<DueOrgRow | null> {
  return firstRow(tx<DueOrgRow[]>`
    select id, slug, name
    from organizations
    where deletes_at <= now() and deleted_at is null
    order by deletes_at
    limit 1
    for update skip locked`);
}

export interface DeletedOrg {
  /** Ids of the export jobs that were queued or running. */
  jobIds: string[];
  members: number;
  projects: number;
}

/**
 * Marks an organization and its projects as deleted, revokes its keys, and deletes its memberships, webhooks and drafts. Published
 * definitions are only deprecated, because others depend on them. Finished exports expire, and unfinished ones fail. Call inside a
 * transaction that has locked the organization.
 */
export async function markOrgDeleted(tx: Sql, orgId: string): Promise<DeletedOrg> {
  await tx`
    update organizations
    set deleted_at = now(), description = null, website_url = null, updated_at = now()
    where id = ${orgId}`;
  await tx`update api_keys set revoked_at = now() where org_id = ${orgId} and revoked_at is null`;
  await tx`delete from webhooks where org_id = ${orgId}`;
  const { count: projects } = await tx`
    update projects
    set deleted_at = now(), updated_at = now()
    where org_id = ${orgId} and deleted_at is null`;
  await deleteDrafts(tx, orgId);
  const deprecated = await tx<{ id: string }[]>`
    update definitions
    set status = 'deprecated', deprecated_at = now(), updated_at = now(),
      deprecation_reason = 'The organization was deleted.'
    where line_id in (select id from definition_lines where org_id = ${orgId}) and status = 'published'
    returning id`;
  await insertDefinitionEvents(tx, {
    type: "definition.deprecated",
    definitionIds: deprecated.map(({ id }) => id),
  });
  await tx`update export_jobs set expires_at = now() where org_id = ${orgId} and status = 'ready'`;
  const jobs = await tx<{ id: string }[]>`
    update export_jobs
    set status = 'failed', error_code = 'ORGANIZATION_GONE', error_message = 'The organization was deleted',
      finished_at = now(), waiting_for = null, retry_at = null
    where org_id = ${orgId} and status in ('queued', 'running')
    returning id`;
  // Members are deleted last, because writers lock their membership last. Any other order could deadlock.
  const { count: members } = await tx`delete from organization_members where org_id = ${orgId}`;
  // The previous statement may have waited for writers. This deletes the drafts that they committed meanwhile.
  await deleteDrafts(tx, orgId);
  return { jobIds: jobs.map(({ id }) => id), members, projects };
}

/**
 * Deletes an organization's drafts and its definition lines without a version. Deleted lines no longer count as forks of their
 * sources.
 */
async function deleteDrafts(tx: Sql, orgId: string): Promise<void> {
  await tx`
    delete from definitions
    where line_id in (select id from definition_lines where org_id = ${orgId}) and status = 'draft'`;
  await tx`
    with deleted as (
      delete from definition_lines as l
      where l.org_id = ${orgId} and not exists (select from definitions as d where d.line_id = l.id)
      returning l.id
    ), uncounted as (
      select f.source_line_id, count(*) as forks
      from deleted
      join definition_forks as f on f.line_id = deleted.id
      group by f.source_line_id
    )
    update definition_lines as s
    set fork_count = s.fork_count - u.forks
    from uncounted as u
    where s.id = u.source_line_id`;
}

interface DeletionNotice {
  org: DueOrgRow;
  /** The owners who receive the notice. */
  owners: readonly { id: string; email: string }[];
  /** The user who made the change; null for an operator or the service. */
  actorUserId: string | null;
  /** The key of the notice's text in jobs/account_mail/deletion_notice.ts. */
  about: string;
  details?: AccountMailDetails | undefined;
}

/**
 * Queues a deletion notice to each owner and returns the mails' ids. Call at the end of the transaction of the change, because the
 * notices lock the owners' addresses.
 */
export async function queueDeletionNotices(
  tx: Sql,
  boss: Boss,
  { org, owners, actorUserId, about, details }: DeletionNotice,
): Promise<string[]> {
  const actor = actorUserId === null ? null : await findUser(tx, actorUserId);
  const { id: orgId, name, slug } = org;
  const said = { about, by: actor?.username ?? null, name, slug, ...details };
  const mails = owners.map(({ id, email }) => {
    return { kind: "deletion_notice", email, userId: id, orgId, details: said } as const;
  });
  return queueAccountMails(tx, boss, mails);
}
