/** Records in the audit log which data is exported, before the first byte is sent. */
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import type { ReadableProjectRow } from "../../sql/accounts/projects.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { requestContext } from "../http/request_context.ts";

export interface NotedExport {
  caller: Caller;
  request: Request;
  action: "export.dataset" | "export.bundle";
  project: ReadableProjectRow;
  details: Readonly<Record<string, string | number>>;
}

/** Adds the entry; none for HEAD. */
export async function noteExport(sql: Sql, noted: NotedExport): Promise<void> {
  const { caller, request, action, project, details } = noted;
  if (requestContext(request).method === "HEAD") return;
  await insertAuditEntry(sql, {
    ...auditActor(request, caller),
    action,
    subjectType: "project",
    subjectId: project.id,
    orgId: project.orgId,
    details,
  });
}
