/** Checks that a caller may still receive a running export. */
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/process/log.ts";
import { isCredentialLive } from "../../sql/accounts/credentials.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { Caller } from "../http/caller.ts";

/**
 * Checks the credential, then calls `requireAccess`, which throws ApiError if access has ended. A database error ends
 * nothing, because the next check comes soon. Never throws.
 */
export async function mayContinue(
  { sql, log }: { sql: Sql; log: Log },
  caller: Caller,
  requireAccess: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (!(await isCredentialLive(sql, caller.credential))) return false;
    await requireAccess();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    log.warn(
      { event: "export.access_unknown", err: error },
      "cannot check whether the caller of an export still has access",
    );
    return true;
  }
}
