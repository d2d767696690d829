/** GET and DELETE /auth/sessions: the caller's own sessions. */
import { Elysia, t } from "elysia";
import { ApiError } from "../../shared/errors.ts";
import { isUuid } from "../../shared/uuid.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { listSessions, markOwnSessionRevoked, type SessionRow } from "../../sql/accounts/sessions.ts";
import { access } from "../http/access.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import { clearedSessionCookie } from "../http/session_cookie.ts";
import { failsWith } from "../openapi/types.ts";
import type { AuthDeps } from "./auth_deps.ts";
import { AUTH_TAG, EXAMPLE_SESSION } from "./auth_schemas.ts";

const EXAMPLE_SESSION_ID = "3c1e0b9a-58f7-4d0e-9a43-7be2f1a90d55";

export const SessionList = t.Object(
  {
    data: t.Object({
      sessions: t.Array(
        t.Object(
          {
            id: t.String({ format: "uuid" }),
            createdAt: t.String({ format: "date-time" }),
            lastUsedAt: t.String({ format: "date-time", description: "Accurate to the minute" }),
            address: t.Union([t.String(), t.Null()], {
              description: "Client address of the sign-in; null for a session that an operator created",
            }),
            userAgent: t.Union([t.String(), t.Null()], { description: "User agent of the sign-in" }),
            expiresAt: t.String({ format: "date-time" }),
            isCurrent: t.Boolean({ description: "Whether this request uses the session" }),
          },
          { title: "Session" },
        ),
      ),
    }),
  },
  {
    description: "Newest first; ended and expired sessions are left out",
    examples: [
      {
        data: {
          sessions: [
            {
              id: EXAMPLE_SESSION_ID,
              createdAt: "2026-11-20T10:00:00.000Z",
              lastUsedAt: "2026-11-20T16:21:00.000Z",
              address: "192.0.2.14",
              userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
              expiresAt: EXAMPLE_SESSION.expiresAt,
              isCurrent: true,
            },
          ],
        },
      },
    ],
  },
);

function presentSession(row: SessionRow, caller: Caller) {
  const { id, createdAt, lastUsedAt, address, userAgent, expiresAt } = row;
  return {
    id,
    createdAt,
    lastUsedAt,
    address,
    userAgent,
    expiresAt,
    isCurrent: id === caller.credential.id,
  };
}

/** Ends a session and writes an audit entry. Another user's session is indistinguishable from one that does not exist. */
async function endSession(
  { sql, callers }: AuthDeps,
  { caller, request, id }: { caller: Caller; request: Request; id: string },
): Promise<void> {
  const hasEnded =
    isUuid(id) &&
    (await sql.begin(async (tx) => {
      if (!(await markOwnSessionRevoked(tx, { id, userId: caller.userId }))) return false;
      await insertAuditEntry(tx, {
        ...auditActor(request, caller),
        action: "session.revoke",
        subjectType: "session",
        subjectId: id.toLowerCase(),
      });
      return true;
    }));
  if (hasEnded) return callers.forget(id.toLowerCase());
  throw new ApiError("NOT_FOUND", {
    message: "Session not found. List your sessions with GET /api/v1/auth/sessions.",
    details: { reason: "session" },
  });
}

export function sessionRoutes(deps: AuthDeps) {
  return new Elysia()
    .use(access)
    .get(
      "/sessions",
      async ({ caller }) => {
        const rows = await listSessions(deps.sql, caller.userId);
        return { data: { sessions: rows.map((row) => presentSession(row, caller)) } };
      },
      {
        access: "session",
        response: { 200: SessionList },
        detail: {
          tags: [AUTH_TAG],
          operationId: "listSessions",
          summary: "List your sessions",
          description:
            "Newest first. A user can have 50 sessions; the next sign-in ends the least recently used one.",
        },
      },
    )
    .delete(
      "/sessions/:id",
      async ({ caller, request, params }) => {
        await endSession(deps, { caller, request, id: params.id });
        const isOwn = params.id.toLowerCase() === caller.credential.id;
        const headers = isOwn ? { "Set-Cookie": clearedSessionCookie(deps.config) } : {};
        return new Response(null, { status: 204, headers });
      },
      {
        access: "session",
        params: t.Object({
          id: t.String({ description: "The session's id, not its token", examples: [EXAMPLE_SESSION_ID] }),
        }),
        detail: {
          tags: [AUTH_TAG],
          operationId: "revokeSession",
          summary: "End one of your sessions",
          description: "The session stops working within one second.",
          responses: { 204: { description: "Ended" } },
          ...failsWith(["NOT_FOUND", { reason: "session" }]),
        },
      },
    );
}
