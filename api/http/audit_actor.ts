/** Who stands behind a change, as the audit log keeps it. */
import type { AuditActor } from "../../sql/accounts/audit_log.ts";
import type { Caller } from "./caller.ts";
import { type RequestContext, requestContext } from "./request_context.ts";

/** The part of an audit entry that is the same for all that one request changes. */
export function auditActor(request: Request, caller: Caller): AuditActor {
  return {
    actorType: "user",
    actorUserId: caller.userId,
    credentialId: caller.credential.id,
    ...auditOrigin(requestContext(request)),
  };
}

/** By which request, and from where. */
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
