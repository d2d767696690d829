/** Table `idempotency_keys`: requests that clients can retry without repeating their effect. */
import type { OrgRole } from "../../shared/vocabulary.ts";
import { firstRow, type Sql } from "../connection/pool.ts";

/** Identifies an idempotency key. Different callers can use the same key independently. */
export interface IdempotencyKey {
  /** The user's id, or the network of an anonymous caller. */
  caller: string;
  key: string;
}

/** A request that claims a key. */
export interface IdempotentRequest extends IdempotencyKey {
  requestId: string;
}

export interface StoredResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The outcome of the first request with a key. */
export interface IdempotencyRecord {
  fingerprint: Uint8Array;
  /** Null if the request has no response yet, or if its response was not stored. */
  response: StoredResponse | null;
  /** The subject of the request's write; null if the request has not committed a write. */
  subject: { type: string; id: string } | null;
  isLocked: boolean;
  /**
   * The response's organization and the caller's role in it when the response was stored. Null if the response has no organization
   * or the caller was not a member.
   */
  membership: { orgId: string; role: OrgRole } | null;
}

/**
 * Claims a key for a request. Returns false if the key has a row that is less than 24 hours old. Exception: if the row's request
 * crashed before its write, a retry with the same fingerprint takes over the row once its lock expires.
 *
 * Never waits for a row lock, although the transaction of a write locks the row of its key. `on conflict do nothing` alone would
 * wait for a row that is being changed, so the statement first checks whether the key exists.
 */
export async function claimIdempotencyKey(
  sql: Sql,
  request: IdempotentRequest & { fingerprint: Uint8Array; lockSeconds: number },
): Promise<boolean> {
  const { caller, key, requestId, fingerprint, lockSeconds } = request;
  const { count } = await sql`
    with claim as (
      select ${caller} as caller, ${key} as key, ${fingerprint}::bytea as fingerprint, ${requestId}::uuid as request_id,
        now() + make_interval(secs => ${lockSeconds}) as locked_until
    ),
    abandoned as (
      select k.caller, k.key
      from idempotency_keys as k
      join claim on claim.caller = k.caller and claim.key = k.key
      where k.created_at < now() - interval '24 hours'
        or (
          k.fingerprint = claim.fingerprint
          and k.applied_at is null
          and k.status is null
          and k.locked_until <= now()
        )
      for update of k skip locked
    ),
    taken_over as (
      update idempotency_keys as k
      set fingerprint = claim.fingerprint, request_id = claim.request_id, created_at = now(),
        locked_until = claim.locked_until, applied_at = null, subject_type = null, subject_id = null,
        status = null, headers = null, body = null, org_id = null, org_role = null
      from claim, abandoned
      where k.caller = abandoned.caller and k.key = abandoned.key
      returning k.key
    ),
    inserted as (
      insert into idempotency_keys (caller, key, fingerprint, request_id, locked_until)
      select caller, key, fingerprint, request_id, locked_until
      from claim
      where not exists (select from idempotency_keys as k where k.caller = claim.caller and k.key = claim.key)
      on conflict do nothing
      returning key
    )
    select key from taken_over
    union all
    select key from inserted`;
  return count > 0;
}

/** Finds a key that another request has claimed; null if the key has been released. */
export async function findIdempotencyKey(
  sql: Sql,
  { caller, key }: IdempotencyKey,
): Promise<IdempotencyRecord | null> {
  return firstRow(sql<IdempotencyRecord[]>`
    select
      fingerprint,
      locked_until > now() as is_locked,
      case when status is not null then json_build_object('status', status, 'headers', headers, 'body', body) end
        as response,
      case when applied_at is not null then json_build_object('type', subject_type, 'id', subject_id) end as subject,
      case when org_role is not null then json_build_object('orgId', org_id, 'role', org_role) end as membership
    from idempotency_keys
    where caller = ${caller} and key = ${key}`);
}

/**
 * Records a request's write, in the transaction of the write. Returns false if a retry has taken over the key. The caller must then
 * roll back, because the retry will write instead.
 */
export async function markIdempotencyKeyApplied(
  tx: Sql,
  { caller, key, requestId, subject }: IdempotentRequest & { subject: { type: string; id: string } },
): Promise<boolean> {
  const { count } = await tx`
    update idempotency_keys
    set applied_at = coalesce(applied_at, now()),
      subject_type = coalesce(subject_type, ${subject.type}),
      subject_id = coalesce(subject_id, ${subject.id})
    where caller = ${caller} and key = ${key} and request_id = ${requestId}`;
  return count > 0;
}

/**
 * Stores a response if the caller has at most `maxKeys` keys, including this one. Stores a response over 16 KiB only while the
 * caller's stored responses over 16 KiB total less than `maxLargeBytes`. Otherwise releases the key.
 */
export async function storeIdempotentResponse(
  sql: Sql,
  request: IdempotentRequest & {
    response: StoredResponse;
    orgId: string | null;
    maxKeys: number;
    maxLargeBytes: number;
  },
): Promise<void> {
  const { caller, key, requestId, response, orgId, maxKeys, maxLargeBytes } = request;
  const { status, headers, body } = response;
  const { count } = await sql`
    update idempotency_keys
    set status = ${status}, headers = ${sql.json({ ...headers })}, body = ${body}, org_id = ${orgId}::uuid,
      org_role = (
        select m.role from organization_members as m where m.org_id = ${orgId}::uuid and m.user_id::text = ${caller}
      )
    where caller = ${caller} and key = ${key} and request_id = ${requestId}
      and (
        select count(*)
        from (select from idempotency_keys as kept where kept.caller = ${caller} limit ${maxKeys + 1}) as counted
      ) <= ${maxKeys}
      and (
        octet_length(${body}) <= 16384
        or (
          select coalesce(sum(octet_length(large.body)), 0)
          from idempotency_keys as large
          where large.caller = ${caller} and octet_length(large.body) > 16384
        ) < ${maxLargeBytes}
      )`;
  if (count === 0) await releaseIdempotencyKey(sql, request);
}

/**
 * Releases the key of a request whose response is not stored. A retry then runs if the request wrote nothing; otherwise, the retry
 * gets the subject of the write.
 */
export async function releaseIdempotencyKey(
  sql: Sql,
  { caller, key, requestId }: IdempotentRequest,
): Promise<void> {
  await sql`
    with released as (
      delete from idempotency_keys
      where caller = ${caller} and key = ${key} and request_id = ${requestId} and applied_at is null
    )
    update idempotency_keys
    set locked_until = now()
    where caller = ${caller} and key = ${key} and request_id = ${requestId} and applied_at is not null`;
}
