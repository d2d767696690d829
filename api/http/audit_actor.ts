/** Builds the actor of an audit entry. */
import type { AuditActor } from "../../sql/accounts/audit_log.ts";
import type { Caller } from "./caller.ts";
import { type RequestContext, requestContext } from "./request_context.ts";

/**
 * Returns the fields that all audit entries of a request share. An entry with a credential cannot be committed once the
 * credential has ended. `credential` is null for a user who has just signed in or opened a link in a mail.
 */
export function auditActor(
  request: Request,
  { userId, credential }: { userId: string; credential: Pick<Caller["credential"], "id"> | null },
): AuditActor {
  return {
    actorType: "user",
    actorUserId: userId,
    credentialId: credential?.id ?? null,
    ...auditOrigin(requestContext(request)),
  };
}

/** Returns the ids, client address, user agent and idempotency key of a request. */
export function auditOrigin(
  context: RequestContext,
): Pick<AuditActor, "requestId" | "clientRequestId" | "address" | "userAgent" | "idempotencyKey"> {
  const { ownRequestId, requestId, address, userAgent, idempotencyKey } = context;
  return {
    requestId: ownRequestId,
    clientRequestId: requestId === ownRequestId ? null : requestId,
    address,
    userAgent,
    idempotencyKey,
  };
}
