/** GET and DELETE /auth/sessions, and POST /auth/logout: the caller's own sessions. */
import { Type } from "@sinclair/typebox";
import type { Config } from "../../shared/process/config.ts";
import { data, Instant, listOf, Nullable, Text, Uuid } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { listSessions as listRows } from "../../sql/accounts/sessions.ts";
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import { notFound } from "../http/require_visible.ts";
import { clearedSessionCookie } from "../http/session_cookie.ts";
import { EXAMPLE_SESSION, OWN_ACCOUNT } from "./schemas.ts";
import { endSession } from "./session_changes.ts";

const EXAMPLE_SESSION_ID = "3c1e0b9a-58f7-4d0e-9a43-7be2f1a90d55";

const Session = Type.Object(
  {
    id: Uuid(),
    createdAt: Instant(),
    lastUsedAt: Instant({ description: "Accurate to the minute" }),
    address: Nullable(Text, {
      description: "Client address of the sign-in; null for a session that an operator created",
    }),
    userAgent: Nullable(Text, { description: "User agent of the sign-in" }),
    expiresAt: Instant(),
    isCurrent: Type.Boolean({ description: "Whether this request uses the session" }),
  },
  {
    title: "Session",
    examples: [
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
);

export const listSessions = operation(
  {
    ...OWN_ACCOUNT,
    id: "listSessions",
    method: "GET",
    path: "/api/v1/auth/sessions",
    summary: "List your sessions",
    description:
      "Newest first. A user can have 50 sessions; the next sign-in ends the least recently used one.",
    response: {
      200: data({ sessions: listOf(Session) }, "Newest first; ended and expired sessions are left out"),
    },
  },
  async ({ caller }, { sql }) => {
    const rows = await listRows(sql, caller.userId);
    const sessions = rows.map((row) => ({ ...row, isCurrent: row.id === caller.credential.id }));
    return reply(200, { data: { sessions } });
  },
);

export const revokeSession = operation(
  {
    ...OWN_ACCOUNT,
    id: "revokeSession",
    method: "DELETE",
    path: "/api/v1/auth/sessions/{id}",
    summary: "End one of your sessions",
    description: "The session stops working within one second.",
    params: {
      id: Type.String({ description: "The session's id, not its token", examples: [EXAMPLE_SESSION_ID] }),
    },
    response: { 204: null },
    fails: [["NOT_FOUND", { reason: "session" }]],
  },
  async ({ caller, request, params }, deps) => {
    const id = params.id.toLowerCase();
    const { userId, credential } = caller;
    const actor = auditActor(request, caller);
    if (!isUuid(id)) throw notFound("session");
    const hasEnded = await deps.writeAccountInTurn(request, (tx) => endSession(tx, { id, userId, actor }));
    if (!hasEnded) throw notFound("session");
    deps.callers.forget(id);
    return reply(204, null, { headers: id === credential.id ? signedOutHeaders(deps.config) : {} });
  },
);

/** Clears our cookie by name, because "cookies" would also sign the user out of other hosts of the domain. */
function signedOutHeaders(config: Pick<Config, "publicUrl">): Readonly<Record<string, string>> {
  return { "Set-Cookie": clearedSessionCookie(config), "Clear-Site-Data": '"cache", "storage"' };
}

export const logout = operation(
  {
    ...OWN_ACCOUNT,
    id: "logout",
    method: "POST",
    path: "/api/v1/auth/logout",
    summary: "Sign out",
    description: "Ends the session. It stops working within one second.",
    response: { 204: null },
  },
  async ({ caller, request }, deps) => {
    const { id } = caller.credential;
    await deps.writeAccountInTurn(request, (tx) =>
      endSession(tx, { id, actor: auditActor(request, caller) }),
    );
    deps.callers.forget(id);
    return reply(204, null, { headers: signedOutHeaders(deps.config) });
  },
);
