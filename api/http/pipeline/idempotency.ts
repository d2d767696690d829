/**
 * Handles the `Idempotency-Key` header. A client that lost the response to a POST repeats the request and gets the same
 * response; nothing is written twice. Keys are rows, so any process can handle the repeated request. The transaction of the
 * write claims the key (`insertAuditEntry`). Even if a process crashes at any point, a retry knows whether there was a write.
 */
import { createHash } from "node:crypto";
import { ApiError } from "../../../shared/errors.ts";
import { hasOrgRole, isPersonalCredential, maySeeOrg } from "../../../shared/policy.ts";
import type { Log } from "../../../shared/process/log.ts";
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyKey,
  type IdempotencyRecord,
  type IdempotentRequest,
  releaseIdempotencyKey,
  type StoredResponse,
  storeIdempotentResponse,
} from "../../../sql/accounts/idempotency_keys.ts";
import { findMembership } from "../../../sql/accounts/organization_members.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { bytesResponse } from "../bytes_response.ts";
import type { Caller } from "../caller.ts";
import { type ErrorBody, respondError } from "../error_handler.ts";
import type { RequestContext } from "../request_context.ts";
import { requireAllowed } from "../require_allowed.ts";
import { boundOrgOf } from "../resolve_org.ts";
import type { Route } from "../route.ts";
import { invalidInput } from "../validation_problems.ts";

const IDEMPOTENCY_HEADER = "Idempotency-Key";
const REPLAYED_HEADER = "Idempotency-Replayed";

const KEY = /^[ -~]{1,128}$/;
/** A request times out after 30 s. Its key is then free for a retry unless the request wrote something. */
const LOCK_SECONDS = 30;
/** Maximum total size of one caller's stored responses over 16 KiB in 24 hours. */
const MAX_LARGE_BYTES = 100_000_000;
/** Maximum keys of one caller in 24 hours. */
const MAX_KEYS = 10_000;
/** Matches `password`, `currentPassword` and `newPassword`. */
const PASSWORD_FIELD = /password$/i;
/** Statuses that can change on a retry, so their responses are not stored. */
const PASSING_STATUSES: readonly number[] = [401, 429];

/** Returns the response of `respond`, or the stored response for the same key. The body must have been read. */
export type RespondOnce = (
  context: RequestContext,
  route: Route,
  respond: () => Promise<Response>,
) => Promise<Response>;

export function createRespondOnce({ sql, log }: { sql: Sql; log: Log }): RespondOnce {
  return async (context, route, respond) => {
    const key = readKey(context, route);
    if (!key) return respond();
    const request: IdempotentRequest = { ...key, requestId: context.ownRequestId };
    const { fingerprint, holdsPassword } = fingerprintOf(context);
    if (!(await claimIdempotencyKey(sql, { ...request, fingerprint, lockSeconds: LOCK_SECONDS }))) {
      const record = await findIdempotencyKey(sql, key);
      if (record && !Buffer.from(fingerprint).equals(record.fingerprint)) {
        throw new ApiError("IDEMPOTENCY_KEY_REUSED");
      }
      if (record?.membership) await requireStillMember(sql, record.membership, context.caller);
      return replay(record, context.requestId);
    }
    context.idempotencyKey = key;
    const response = await respond().catch((error: unknown) => respondError(context, error));
    // The write is committed. If the response is not stored, a retry gets an error with the subject of the write.
    const onFailure = (problem: unknown) =>
      log.warn(
        { requestId: context.requestId, err: problem },
        "cannot keep a response for its idempotency key",
      );
    if (isKept({ context, route, holdsPassword }, response)) {
      const stored = await readResponse(response);
      await storeIdempotentResponse(sql, {
        ...request,
        response: stored,
        orgId: context.orgId,
        maxKeys: MAX_KEYS,
        maxLargeBytes: MAX_LARGE_BYTES,
      }).catch(onFailure);
      return toResponse(stored);
    }
    const released = releaseIdempotencyKey(sql, request).catch(onFailure);
    // After a 5xx, the write may still be running and hold the row lock.
    if (response.status < 500) await released;
    return response;
  };
}

/**
 * Returns the key of a POST; null without a key, for an anonymous read, and for a page. A page can show a secret, and its form
 * sends its own key with the write.
 */
function readKey({ request, caller, network }: RequestContext, route: Route): IdempotencyKey | null {
  const key = request.headers.get(IDEMPOTENCY_HEADER);
  if (key === null || request.method !== "POST" || route.isPage) return null;
  if (!KEY.test(key)) {
    throw invalidInput([
      { path: IDEMPOTENCY_HEADER, message: "must be 1 to 128 printable ASCII characters" },
    ]);
  }
  if (caller) return { caller: caller.userId, key };
  return route.writes ? { caller: network, key } : null;
}

/**
 * Hashes the parts that distinguish two requests: method, URL, organization, body, and the credential's rights. An API key
 * therefore never gets a response that a key with more rights received. Passwords are excluded: this hash is stored, and
 * guessing passwords from it is many thousand times faster than from argon2id. Responses to passwords are not stored either,
 * because a request with another password has the same hash and would get the response.
 */
function fingerprintOf({ request, url, caller, body }: RequestContext): {
  fingerprint: Uint8Array;
  holdsPassword: boolean;
} {
  const org = request.headers.get("x-org-slug");
  const rights = caller && [
    boundOrgOf(caller),
    isPersonalCredential(caller.credential).ok,
    caller.platformRole,
    // Added last, and only if true, so that processes of an older release compute the same hash for all other requests.
    ...(caller.credential.type === "session" && caller.credential.isProven ? ["proven"] : []),
  ];
  const parts = [request.method, url.pathname + url.search, org, body, rights];
  let holdsPassword = false;
  const text = JSON.stringify(parts, (name, value) => {
    if (!PASSWORD_FIELD.test(name)) return value;
    holdsPassword = true;
    return undefined;
  });
  return { fingerprint: createHash("sha256").update(text).digest(), holdsPassword };
}

/**
 * Returns whether to store a response. Excludes server errors, errors that a retry can fix, responses to passwords, and secrets.
 * A secret route that needs a credential keeps its errors.
 */
function isKept(
  { context, route, holdsPassword }: { context: RequestContext; route: Route; holdsPassword: boolean },
  { status }: Response,
): boolean {
  const { error } = context;
  if (holdsPassword || status >= 500 || PASSING_STATUSES.includes(status)) return false;
  if (error?.code === "SECOND_FACTOR_REQUIRED") return false;
  return !route.secret || (status >= 400 && route.access !== "public");
}

async function readResponse(response: Response): Promise<StoredResponse> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "set-cookie"));
  return { status: response.status, headers, body: await response.text() };
}

/** A 204 response must not have a body, not even an empty one. */
function toResponse({ status, headers, body }: StoredResponse): Response {
  return status === 204 ? new Response(null, { status, headers }) : bytesResponse(body, { status, headers });
}

/** Returns the stored response to a repeated request. Throws if no response is stored. */
function replay(record: IdempotencyRecord | null, requestId: string): Response {
  if (record?.response) {
    const response = toResponse(withRequestId(record.response, requestId));
    response.headers.set(REPLAYED_HEADER, "true");
    return response;
  }
  if (record?.subject && !record.isLocked) {
    throw new ApiError("IDEMPOTENCY_KEY_USED", { details: { ...record.subject } });
  }
  throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
}

/** Replaces the request id in an error's body, so that it equals `X-Request-Id`. */
function withRequestId(stored: StoredResponse, requestId: string): StoredResponse {
  if (stored.status < 400) return stored;
  const { error }: ErrorBody = JSON.parse(stored.body);
  return { ...stored, body: JSON.stringify({ error: { ...error, requestId } }) };
}

/**
 * Throws ORG_ACCESS_DENIED, SECOND_FACTOR_REQUIRED or INSUFFICIENT_ORG_ROLE, as a new request would, if the caller has lost
 * access to the response's organization.
 */
async function requireStillMember(
  sql: Sql,
  { orgId, role }: NonNullable<IdempotencyRecord["membership"]>,
  caller: Caller | null,
): Promise<void> {
  const membership = caller && (await findMembership(sql, { userId: caller.userId, orgId }));
  if (!membership) throw new ApiError("ORG_ACCESS_DENIED");
  requireAllowed(maySeeOrg(caller.credential, membership));
  requireAllowed(hasOrgRole(membership.role, role));
}
