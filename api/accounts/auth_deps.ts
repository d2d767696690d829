/** What the routes of signing in share. */
import type { Config } from "../../shared/process/config.ts";
import type { Log } from "../../shared/process/log.ts";
import type { Pool } from "../../sql/connection/pool.ts";
import type { CredentialCache } from "../http/credential_cache.ts";
import type { Metrics } from "../http/metrics.ts";
import type { AuditFailure } from "./audit_failure.ts";
import type { LoginLimit } from "./login_limit.ts";
import type { PasswordQueue } from "./password_queue.ts";

export interface AuthRoutesDeps {
  config: Config;
  sql: Pool;
  log: Log;
  metrics: Metrics;
  /** Forgets what is revoked here. */
  callers: CredentialCache;
  /** Milliseconds since the epoch, for the limits; the clock when left out. */
  now?: () => number;
}

export interface AuthDeps extends AuthRoutesDeps {
  loginLimit: LoginLimit;
  passwords: PasswordQueue;
  auditFailure: AuditFailure;
}
