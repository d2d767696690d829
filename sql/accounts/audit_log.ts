/** Table `audit_log`: an append-only log of actions with their actor, time, client address and request. */
import { ApiError } from "../../shared/errors.ts";
import type { AuditActorType } from "../../shared/vocabulary.ts";
import { type Sql, tableRows } from "../connection/pool.ts";
import { type IdempotencyKey, markIdempotencyKeyApplied } from "./idempotency_keys.ts";

export interface AuditEntry {
  /** `operator`: the admin command line. `service`: a job or a schedule. `anonymous`: a caller without credentials. */
  actorType: AuditActorType;
  actorUserId?: string | null;
  /** The id of the key or session that the actor used. */
  credentialId?: string | null;
  /** `<noun>.<verb>`, such as `org.create`. */
  action: string;
  subject: { type: string; id: string };
  orgId?: string | null;
  /** The service's own id for the request. */
  requestId?: string | null;
  /** The client's `X-Request-Id`. */
  clientRequestId?: string | null;
  /** The client's address. */
  address?: string | null;
  userAgent?: string | null;
  /** The request's `Idempotency-Key`. Inserting the entry marks the key as applied. */
  idempotencyKey?: IdempotencyKey | null;
  /** Details of the change, for people to read. They must not contain secrets. */
  details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** The fields that all entries of a request share. */
export type AuditActor = Omit<AuditEntry, "action" | "subject" | "orgId" | "details">;

/**
 * Adds one entry. Call it inside the transaction of the change. Throws IDEMPOTENCY_IN_PROGRESS if a retry has taken over the
 * request's idempotency key. The error rolls back the change.
 */
export async function insertAuditEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  await insertAuditEntries(sql, [entry]);
}

/** Adds several entries, in order, with one statement. Otherwise works like `insertAuditEntry`. */
export async function insertAuditEntries(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  await auditInsert(sql, entries);
  const [entry] = entries;
  if (entry) await claimKeyOf(sql, entry);
}

/**
 * Marks the idempotency key of an entry as applied. Throws IDEMPOTENCY_IN_PROGRESS if the request no longer holds the key. Call it
 * for a change whose own statement inserts the entry, before that statement and in the same transaction.
 */
export async function claimKeyOf(tx: Sql, entry: AuditEntry): Promise<void> {
  const { idempotencyKey, requestId, subject } = entry;
  if (!idempotencyKey || !requestId) return;
  const isOurs = await markIdempotencyKeyApplied(tx, { ...idempotencyKey, requestId, subject });
  if (!isOurs) throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
}

/** Returns the insert statement of `insertAuditEntries`, for the `with` clause of another statement. */
export function auditInsert(sql: Sql, entries: readonly AuditEntry[]) {
  const rows = entries.map(({ idempotencyKey: _, subject, ...entry }) => {
    return { ...entry, subjectType: subject.type, subjectId: subject.id };
  });
  return sql`
    insert into audit_log (
      actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id,
      request_id, client_request_id, address, user_agent, details
    )
    select
      actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id,
      request_id, client_request_id, address, user_agent, coalesce(details, '{}')
    from ${tableRows(sql, "audit_log", rows)} as e`;
}

export interface AuditEntryRow {
  /** Increases with each entry and serves as the page cursor. */
  id: number;
  occurredAt: string;
  actorType: AuditActorType;
  actorUserId: string | null;
  /** Null if the actor is not a user or the user is deleted. */
  actorUsername: string | null;
  credentialId: string | null;
  action: string;
  subjectType: string;
  subjectId: string;
  organizationId: string | null;
  requestId: string | null;
  clientRequestId: string | null;
  address: string | null;
  userAgent: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  orgId?: string | undefined;
  actorUserId?: string | undefined;
  /** Lists only entries at or after this time. */
  since?: string | undefined;
  /** Lists only entries with a lower id. */
  beforeId?: number | undefined;
  limit: number;
}

/** Lists the entries that match the filter, newest first. */
export async function listAuditEntries(sql: Sql, filter: AuditFilter): Promise<AuditEntryRow[]> {
  const { orgId, actorUserId, since, beforeId, limit } = filter;
  return sql<AuditEntryRow[]>`
    select
      a.id, a.occurred_at, a.actor_type, a.actor_user_id, u.username as actor_username, a.credential_id,
      a.action, a.subject_type, a.subject_id, a.org_id as organization_id,
      a.request_id, a.client_request_id, a.address, a.user_agent, a.details
    from audit_log a
    left join users u on u.id = a.actor_user_id
    where true
      ${orgId === undefined ? sql`` : sql`and a.org_id = ${orgId}`}
      ${actorUserId === undefined ? sql`` : sql`and a.actor_user_id = ${actorUserId}`}
      ${since === undefined ? sql`` : sql`and a.occurred_at >= ${since}`}
      ${beforeId === undefined ? sql`` : sql`and a.id < ${beforeId}`}
    order by a.id desc
    limit ${limit}`;
}
