/** Checks with `admin audit verify` that the audit log is intact after load, kills and outages. */
import { runJson } from "../../helpers/accounts/admin.ts";
import type { TestDatabase } from "../../helpers/postgres/database.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** Job runners seal some hundred entries every two seconds. */
const SEAL_TIMEOUT_MS = 60_000;

/** The output of `admin audit verify --json`. */
interface Verdict {
  entries: number;
  unsealed: number;
}

/** Returns what is wrong with the chain once all entries of the run are sealed; empty if nothing is. */
export async function listAuditTroubles({ url }: Pick<TestDatabase, "url">): Promise<string[]> {
  const verdict = await waitFor(async () => {
    const found = await verify(url);
    return found.unsealed === 0 ? found : null;
  }, SEAL_TIMEOUT_MS);
  return verdict.entries > 0 ? [] : ["the audit log has no entries"];
}

/** Throws if the command fails, as it does for a broken chain. */
async function verify(url: string): Promise<Verdict> {
  return runJson<Verdict>(url, ["audit", "verify"]);
}
