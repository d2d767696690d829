/** Who stands behind a change, as the audit log keeps it. */
import type { AuditEntry } from "../sql/audit_log.ts";
import type { Caller } from "./authenticate.ts";
import { requestContext } from "./request_context.ts";

/** The part of an audit entry that is the same for all that one request changes. */
export function auditActor(
  request: Request,
  caller: Caller,
): Pick<AuditEntry, "actorType" | "actorUserId" | "credentialId" | "requestId"> {
  return {
    actorType: "user",
    actorUserId: caller.userId,
    credentialId: caller.credential.id,
    requestId: requestContext(request).requestId,
  };
}
