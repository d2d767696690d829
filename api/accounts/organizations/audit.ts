/** GET /orgs/{slug}/audit: the audit log of an organization, for its owners and admins. */
import { Elysia, t } from "elysia";
import { hasOrgRole } from "../../../shared/policy.ts";
import { AUDIT_ACTOR_TYPES } from "../../../shared/vocabulary.ts";
import { type AuditEntryRow, listAuditEntries } from "../../../sql/accounts/audit_log.ts";
import type { Pool } from "../../../sql/connection/pool.ts";
import { access } from "../../http/access.ts";
import { describeQuery, limit, once, parseQuery, queryOf } from "../../http/query.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { oneOf } from "../../http/schemas.ts";
import { pathParameter } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { requireOwnOrg } from "./require_own_org.ts";
import { ORGS_TAG, OrgParams } from "./schemas.ts";

const NullableText = (description: string) => t.Union([t.String(), t.Null()], { description });
const NullableId = (description: string) =>
  t.Union([t.String({ format: "uuid" }), t.Null()], { description });

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

const AuditEntrySchema = t.Object(
  {
    id: t.Integer({ description: "Increases over time" }),
    occurredAt: t.String({ format: "date-time" }),
    actorType: oneOf(AUDIT_ACTOR_TYPES),
    actorUserId: NullableId("The user; null for an operator or the service itself"),
    actorUsername: NullableText("Also null if the user no longer exists"),
    credentialId: NullableId("The key or session that was used"),
    action: t.String({ description: "`<noun>.<verb>`" }),
    subjectType: t.String(),
    subjectId: t.String(),
    organizationId: NullableId("The organization"),
    requestId: NullableText("Id of the request, assigned by the service"),
    clientRequestId: NullableText("What the client sent as X-Request-Id"),
    address: NullableText("The client's address"),
    userAgent: NullableText("The client's user agent"),
    details: t.Record(t.String(), t.Unknown(), { description: "What changed" }),
  },
  { title: "AuditEntry" },
);

export const AuditPage = t.Object(
  {
    data: t.Object({
      entries: t.Array(AuditEntrySchema),
      nextCursor: NullableText("Cursor of the next page; null on the last page"),
    }),
  },
  {
    description: "Newest first",
    examples: [{ data: { entries: [EXAMPLE_ENTRY], nextCursor: "48213" } }],
  },
);

const AUDIT_QUERY = {
  limit: limit({ max: 200, unset: 50 }, "Entries per page"),
  cursor: {
    description: "`nextCursor` of the previous page",
    schema: { type: "string" },
    read: once((text, addProblem): number | undefined => {
      if (text === null) return undefined;
      const id = /^\d{1,15}$/.test(text) ? Number(text) : 0;
      if (id <= 0) addProblem("must be the nextCursor of a previous page");
      return id;
    }),
  },
};

async function findPage(sql: Pool, given: { orgId: string; query: URLSearchParams }) {
  const { limit, cursor: beforeId } = parseQuery(AUDIT_QUERY, given.query);
  // One extra row shows whether there is another page.
  const rows = await listAuditEntries(sql, { orgId: given.orgId, beforeId, limit: limit + 1 });
  const entries: AuditEntryRow[] = rows.slice(0, limit);
  const last = entries.at(-1);
  return { entries, nextCursor: rows.length > limit && last ? String(last.id) : null };
}

export function orgAuditRoutes({ sql }: { sql: Pool }) {
  return new Elysia().use(access).get(
    "/:slug/audit",
    async ({ caller, params, request }) => {
      const { id, role } = await requireOwnOrg(sql, { caller, slug: params.slug });
      requireAllowed(hasOrgRole(role, "admin"));
      return { data: await findPage(sql, { orgId: id, query: queryOf(request) }) };
    },
    {
      access: "caller",
      params: OrgParams,
      response: { 200: AuditPage },
      detail: describe({
        tags: [ORGS_TAG],
        operationId: "listAuditEntries",
        summary: "List an organization's audit log",
        description:
          "For owners and admins. Contains exports, writes and denied writes in the organization, but not what members do " +
          "with their own accounts. Entries are kept for 400 days.",
        parameters: [pathParameter("slug", "The organization's slug", "demo"), ...describeQuery(AUDIT_QUERY)],
        ...failsWith("VALIDATION_ERROR", "ORG_ACCESS_DENIED", "INSUFFICIENT_ORG_ROLE", "ORG_NOT_FOUND"),
      }),
    },
  );
}
