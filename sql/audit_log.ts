/** Table `audit_log`: who did what, when, from which request. Rows are only ever added. */
import type { AuditActorType } from "../shared/vocabulary.ts";
import type { Sql } from "./pool.ts";

export interface AuditEntry {
  /** `operator` is the admin command line, `service` a job or a schedule. */
  actorType: AuditActorType;
  actorUserId?: string | null;
  /** Id of the key or session that was used. */
  credentialId?: string | null;
  /** `<noun>.<verb>`, such as `org.create`. */
  action: string;
  subjectType: string;
  subjectId: string;
  orgId?: string | null;
  requestId?: string | null;
  /** What changed, for a person to read. Never a secret. */
  details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** Adds one entry. Call inside the transaction of the change it tells of, so that neither stands alone. */
export async function insertAuditEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log
      (actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id, request_id, details)
    values (
      ${entry.actorType}, ${entry.actorUserId ?? null}, ${entry.credentialId ?? null}, ${entry.action},
      ${entry.subjectType}, ${entry.subjectId}, ${entry.orgId ?? null}, ${entry.requestId ?? null},
      ${sql.json(entry.details ?? {})}
    )`;
}

/** Adds several entries by one statement, in their order; else as `insertAuditEntry`. */
export async function insertAuditEntries(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  await sql`
    insert into audit_log
      (actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id, request_id, details)
    select
      e."actorType", e."actorUserId", e."credentialId", e.action,
      e."subjectType", e."subjectId", e."orgId", e."requestId", coalesce(e.details, '{}')
    from jsonb_to_recordset(${sql.json(entries.map((entry) => ({ ...entry })))}) as e (
      "actorType" text, "actorUserId" uuid, "credentialId" uuid, action text,
      "subjectType" text, "subjectId" text, "orgId" uuid, "requestId" text, details jsonb
    )`;
}
