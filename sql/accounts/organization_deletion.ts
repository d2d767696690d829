/** The deletion of an organization: an owner schedules it and can cancel it until then; the sweep carries it out. */
import { firstRow, firstValue, type Sql } from "../connection/pool.ts";
import { insertDefinitionEvents } from "../events/events.ts";
import type { Boss } from "../job_queue.ts";
import { type AccountMailDetails, queueAccountMails } from "./account_mails.ts";
import type { OrgRow } from "./orgs.ts";
import { findUser } from "./users.ts";

/** Days from the request of an owner until an organization is deleted. It can be restored until then. */
export const ORG_RESTORE_DAYS = 7;

/** Sets when an organization is deleted; null if that is set already, or it is deleted. */
export async function updateOrgDeletesAt(sql: Sql, orgId: string): Promise<string | null> {
  return firstValue(sql<{ deletesAt: string }[]>`
    update organizations
    set deletes_at = now() + make_interval(days => ${ORG_RESTORE_DAYS}), updated_at = now()
    where id = ${orgId} and deletes_at is null and deleted_at is null
    returning deletes_at`);
}

/** Cancels the deletion of an organization; false if none is scheduled, or it is deleted. */
export async function markOrgRestored(sql: Sql, orgId: string): Promise<boolean> {
  const { count } = await sql`
    update organizations
    set deletes_at = null, updated_at = now()
    where id = ${orgId} and deletes_at is not null and deleted_at is null`;
  return count === 1;
}

export type DueOrgRow = Pick<OrgRow, "id" | "slug" | "name">;

/**
 * Locks an organization whose deletion is due; null if there is none, or if other transactions have locked them all. An
 * owner who tries to restore it at the same time waits, and is too late. Call inside a transaction.
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
  /** Export jobs that were queued or running. */
  jobIds: string[];
  members: number;
  projects: number;
}

/**
 * Deletes an organization: its members, keys, webhooks, projects and drafts. Its private definitions become invisible.
 * Published ones stay, because others depend on them, and say that they are deprecated. Its exports expire. Call inside a
 * transaction that has locked it.
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
  // Last, as writers lock what they change before their membership; otherwise the two could wait for each other.
  const { count: members } = await tx`delete from organization_members where org_id = ${orgId}`;
  // Those of writers whose membership the last statement waited for.
  await deleteDrafts(tx, orgId);
  return { jobIds: jobs.map(({ id }) => id), members, projects };
}

/** Deletes an organization's drafts and the lines that have no version then, which count no more as forks of their sources. */
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
  /** The recipients. */
  owners: readonly { id: string; email: string }[];
  /** Who did it; null for an operator or the service. */
  actorUserId: string | null;
  /** The key of a text in jobs/account_mail/deletion_notice.ts. */
  about: string;
  details?: AccountMailDetails | undefined;
}

/**
 * Queues the mails and returns their ids. Call at the end of the transaction of the change, because it locks the recipients'
 * addresses.
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
