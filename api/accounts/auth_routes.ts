/** The routes of signing in, and of what only those who signed in may do. */
import { Elysia } from "elysia";
import { createAuditFailure } from "./audit_failure.ts";
import type { AuthDeps, AuthRoutesDeps } from "./auth_deps.ts";
import { passwordRoutes } from "./change_password.ts";
import { keyRoutes } from "./keys.ts";
import { loginRoutes } from "./login.ts";
import { createLoginLimit } from "./login_limit.ts";
import { logoutRoutes } from "./logout.ts";
import { meRoutes } from "./me.ts";
import { createPasswordQueue } from "./password_queue.ts";
import { sessionRoutes } from "./sessions.ts";

export function authRoutes(given: AuthRoutesDeps) {
  const { now = Date.now } = given;
  const deps: AuthDeps = {
    ...given,
    loginLimit: createLoginLimit({ ...given, now }),
    passwords: createPasswordQueue(),
    auditFailure: createAuditFailure(given),
  };
  return new Elysia({ prefix: "/auth" })
    .use(loginRoutes(deps))
    .use(logoutRoutes(deps))
    .use(meRoutes(deps))
    .use(passwordRoutes(deps))
    .use(sessionRoutes(deps))
    .use(keyRoutes(deps));
}
