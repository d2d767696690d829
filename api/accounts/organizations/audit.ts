/** GET /orgs/{slug}/audit: the audit log of an organization, for its owners and admins. */
import { Type } from "@sinclair/typebox";
import { Details, data, Instant, listOf, Nullable, oneOf, Text, Uuid } from "../../../shared/schemas.ts";
import { AUDIT_ACTOR_TYPES } from "../../../shared/vocabulary.ts";
import { type AuditEntryRow, listAuditEntries as listRows } from "../../../sql/accounts/audit_log.ts";
import { operation, reply } from "../../http/operation.ts";
import { limit, once } from "../../http/query.ts";
import { requireOrgRole } from "../require_own_org.ts";
import { ROLE_READ } from "./schemas.ts";

const orNull = (description: string) => Nullable(Text, { description });
const idOrNull = (description: string) => Nullable(Uuid(), { description });

const EXAMPLE_ENTRY = {
  id: 48213,
  occurredAt: "2026-11-20T10:00:00.000Z",
  actorType: "user",
  actorUserId: "5f0c6d0e-3f5b-4c57-9a54-0f2d8f0f7c11",
  actorUsername: "publisher",
  credentialId: "9d0a2f52-61c4-4f57-8d3b-1f2f9d3e7a10",
  action: "definition.publish",
  subjectType: "definition",
  subjectId: "c1a3a2f0-88f2-4a3e-9d58-30f1c2b4e6d7",
  organizationId: "0b9b7f0a-6a2e-4b1c-8b0e-6c3a0e6b7d21",
  requestId: "7a1c5a5e-2b8a-4a54-9a0a-b1a0f8f0c9de",
  clientRequestId: "deploy-1842",
  address: "192.0.2.14",
  userAgent: "curl/8.14.1",
  details: { name: "code-reviewer", version: "1.2.0" },
};

const AuditEntrySchema = Type.Object(
  {
    id: Type.Integer({ description: "Increases over time" }),
    occurredAt: Instant(),
    actorType: oneOf(AUDIT_ACTOR_TYPES),
    actorUserId: idOrNull("The user; null for an operator or the service itself"),
    actorUsername: orNull("Also null if the user no longer exists"),
    credentialId: idOrNull("The key or session that was used"),
    action: Type.String({ description: "`<noun>.<verb>`" }),
    subjectType: Text,
    subjectId: Text,
    organizationId: idOrNull("The organization"),
    requestId: orNull("Id of the request, assigned by the service"),
    clientRequestId: orNull("What the client sent as X-Request-Id"),
    address: orNull("The client's address"),
    userAgent: orNull("The client's user agent"),
    details: { ...Details, description: "What changed" },
  },
  { title: "AuditEntry" },
);

const AuditPage = data(
  { entries: listOf(AuditEntrySchema), nextCursor: orNull("Cursor of the next page; null on the last page") },
  "Newest first",
  { entries: [EXAMPLE_ENTRY], nextCursor: "48213" },
);

const AUDIT_QUERY = {
  limit: limit({ max: 200, unset: 50 }, "Entries per page"),
  cursor: {
    description: "`nextCursor` of the previous page",
    schema: Text,
    read: once((text, addProblem): number | undefined => {
      if (text === null) return undefined;
      const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
      if (id <= 0) addProblem("must be the nextCursor of a previous page");
      return id;
    }),
  },
};

export const listAuditEntries = operation(
  {
    ...ROLE_READ,
    id: "listAuditEntries",
    path: "/api/v1/orgs/{slug}/audit",
    summary: "List an organization's audit log",
    description:
      "For owners and admins. Contains exports, writes and denied writes in the organization, but not what members do " +
      "with their own accounts. Entries are kept for 400 days.",
    query: AUDIT_QUERY,
    response: { 200: AuditPage },
  },
  async ({ caller, request, params, query: { limit, cursor: beforeId } }, { sql }) => {
    const { id } = await requireOrgRole(sql, { caller, slug: params.slug, request, role: "admin" });
    // The extra row shows whether there is another page.
    const rows = await listRows(sql, { orgId: id, beforeId, limit: limit + 1 });
    const entries: AuditEntryRow[] = rows.slice(0, limit);
    const last = entries.at(-1);
    const nextCursor = rows.length > limit && last ? String(last.id) : null;
    return reply(200, { data: { entries, nextCursor } });
  },
);
