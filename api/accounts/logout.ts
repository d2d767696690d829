/** POST /auth/logout: ends the session of the request. */
import { auditActor } from "../http/audit_actor.ts";
import { operation, reply } from "../http/operation.ts";
import { clearedSessionCookie } from "../http/session_cookie.ts";
import { endSession } from "./end_session.ts";
import { OWN_ACCOUNT } from "./schemas.ts";

/** Not "cookies": that would also sign the user out of the other hosts of the domain. Ours is cleared by name. */
const CLEAR_SITE_DATA = '"cache", "storage"';

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
  async ({ caller, request }, { sql, callers, config }) => {
    const { id } = caller.credential;
    await endSession(sql, { id, actor: auditActor(request, caller) });
    callers.forget(id);
    const headers = { "Set-Cookie": clearedSessionCookie(config), "Clear-Site-Data": CLEAR_SITE_DATA };
    return reply(204, null, { headers });
  },
);
