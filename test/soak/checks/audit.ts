/** Checks with `admin audit verify` that the audit log is intact after load, kills and outages. */
import { runJson } from "../../helpers/accounts/admin.ts";
import type { TestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** Job runners seal entries in batches of 500, and pause two seconds after a smaller batch. */
const SEAL_TIMEOUT_MS = 60_000;

/** The output of `admin audit verify --json`. */
interface Verdict {
  entries: number;
  unsealed: number;
}

/**
 * Verifies the audit log until all entries are sealed. Returns a problem if it is empty. Throws if an entry stays unsealed or the
 * chain is broken.
 */
export async function listAuditTroubles({ url }: Pick<TestDatabase, "url">): Promise<string[]> {
  const verdict = await waitFor(async () => {
    const found = await verify(url);
    return found.unsealed === 0 ? found : null;
  }, SEAL_TIMEOUT_MS);
  return verdict.entries > 0 ? [] : ["the audit log has no entries"];
}

/** Runs `admin audit verify`; throws if the command fails, as it does for a broken chain. */
async function verify(url: string): Promise<Verdict> {
  return runJson<Verdict>(url, ["audit", "verify"]);
}
