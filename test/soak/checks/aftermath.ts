/** Checks the service and its data after the load. */
import type { Pool } from "../../../sql/connection/pool.ts";
import { listTroubles } from "../../helpers/exports/aftermath.ts";
import type { MailServer } from "../../helpers/network/mail_server.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import { ask } from "../ask.ts";
import { Chance } from "../chance.ts";
import { EDITED_PREFIX } from "../clients/editor.ts";
import { deadRead } from "../clients/key_holder.ts";
import type { Soak } from "../soak.ts";
import { listAuditTroubles } from "./audit.ts";

/**
 * Long enough for three attempts of a build, the detection of each dead runner, and the longest pause between attempts.
 */
const JOBS_TIMEOUT_MS = 600_000;
/** The number of revoked credentials to try at the end. */
const TRIED = 500;

/** Waits until no job is active, then compares the database, the files and the mails with the responses that clients received. */
export async function checkAftermath(soak: Soak, mailServer: MailServer): Promise<void> {
  const { db, dataDir, ledgers, world } = soak;
  const accounts = world.accounts.map(({ id }) => id);
  const checks: [kind: string, list: () => Promise<string[]>][] = [
    ["a job has no end", () => listEndless(db.sql)],
    ["jobs are not what clients were told", () => ledgers.jobs.listTroubles(db.sql)],
    ["executions are not what clients were told", () => ledgers.executions.listTroubles(db.sql)],
    [
      "definitions are not what clients were told",
      () => ledgers.definitions.listTroubles(db.sql, EDITED_PREFIX),
    ],
    ["keys are not what clients were told", () => ledgers.keys.listTroubles(db.sql, accounts)],
    ["exports are not what the tables hold", () => ledgers.exports.listTroubles(db.sql)],
    ["processes do not agree", () => compareAnswers(soak)],
    [
      "jobs, files and mails do not agree",
      () => listTroubles({ db, dataDir, mailServer, mayRepeatMails: true }),
    ],
    ["the audit log is not whole", () => listAuditTroubles(db)],
  ];
  for (const [kind, list] of checks) {
    // An error in one check does not stop the others.
    soak.findings.addAll(kind, await list().catch((error: unknown) => [`Cannot check: ${error}`]));
  }
  await tryDeadCredentials(soak);
}

/** Returns the jobs that are still active after the time limit. */
async function listEndless(sql: Pool): Promise<string[]> {
  let active: readonly { id: string; status: string; attempt: number }[] = [];
  await waitFor(async () => {
    active = await sql`select id, status, attempt from export_jobs where status in ('queued', 'running')`;
    return active.length === 0;
  }, JOBS_TIMEOUT_MS).catch(() => {});
  return active.map((job) => JSON.stringify(job));
}

async function tryDeadCredentials(soak: Soak): Promise<void> {
  const chance = new Chance(soak.options.seed, -1);
  for (const key of chance.shuffle(soak.ledgers.keys.dead).slice(0, TRIED))
    await ask(soak, chance, deadRead(key));
}

/** Checks that all API processes serve the same catalog, and that their execution counts match the database. */
async function compareAnswers({ apis, db, world }: Soak): Promise<string[]> {
  const troubles: string[] = [];
  const etags = new Set<string>();
  for (const api of apis) {
    etags.add((await fetch(`${api.url}/api/v1/models?limit=200`)).headers.get("etag") ?? api.name);
    for (const { name } of world.agents) {
      const response = await fetch(`${api.url}/api/v1/definitions/agent/${name}/executions`);
      const { data } = (await response.json()) as { data: { totalCount: number } };
      const [row] = await db.sql<[{ count: number }]>`
        select execution_count as count from definition_lines where type = 'agent' and name = ${name}`;
      if (data.totalCount === row.count) continue;
      troubles.push(`${api.name} counts ${data.totalCount} executions of ${name}, the table ${row.count}`);
    }
  }
  if (etags.size > 1) troubles.push("the catalogs differ");
  return troubles;
}
