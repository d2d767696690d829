/** Everything that has to hold when the load is over. */
import { listTroubles } from "../../helpers/aftermath.ts";
import type { MailServer } from "../../helpers/mail_server.ts";
import { waitFor } from "../../helpers/wait_for.ts";
import { ask } from "../ask.ts";
import { Chance } from "../chance.ts";
import { EDITED_PREFIX } from "../clients/editor.ts";
import { deadRead } from "../clients/key_holder.ts";
import type { Soak } from "../soak.ts";

/** For three attempts of a build, each after a dead one was noticed. */
const JOBS_TIMEOUT_MS = 300_000;
/** Dead credentials tried at the end, of all there are. */
const TRIED = 500;

/** Waits until no job is active, and compares what clients were told with what there is. */
export async function checkAftermath(soak: Soak, mailServer: MailServer): Promise<void> {
  const { db, dataDir, books, world, findings } = soak;
  await settleJobs(soak);
  const troubles = await listTroubles({ db, dataDir, mailServer, mayRepeatMails: true });
  findings.addAll("jobs, files and mails do not agree", troubles);
  findings.addAll("jobs are not what clients were told", await books.jobs.listTroubles(db.sql));
  findings.addAll("executions are not what clients were told", await books.executions.listTroubles(db.sql));
  const definitions = await books.definitions.listTroubles(db.sql, EDITED_PREFIX);
  findings.addAll("definitions are not what clients were told", definitions);
  const accounts = world.accounts.map(({ id }) => id);
  findings.addAll("keys are not what clients were told", await books.keys.listTroubles(db.sql, accounts));
  findings.addAll("exports are not what the tables hold", await books.exports.listTroubles(db.sql));
  await tryDeadCredentials(soak);
  await compareAnswers(soak);
}

async function settleJobs({ db, findings }: Soak): Promise<void> {
  const listActive = () => db.sql<{ id: string; status: string; attempt: number }[]>`
    select id, status, attempt from export_jobs where status in ('queued', 'running')`;
  try {
    await waitFor(async () => (await listActive()).length === 0, JOBS_TIMEOUT_MS);
  } catch {
    for (const job of await listActive()) findings.add("a job has no end", JSON.stringify(job));
  }
}

async function tryDeadCredentials(soak: Soak): Promise<void> {
  const chance = new Chance(soak.options.seed, -1);
  for (const key of chance.shuffle(soak.books.keys.dead).slice(0, TRIED))
    await ask(soak, chance, deadRead(key));
}

/** Every process gives the same answer, and it is what the database holds. */
async function compareAnswers({ apis, db, world, findings }: Soak): Promise<void> {
  const etags = new Set<string>();
  for (const api of apis) {
    etags.add((await fetch(`${api.url}/api/v1/models?limit=200`)).headers.get("etag") ?? api.name);
    for (const { name } of world.agents) {
      const response = await fetch(`${api.url}/api/v1/definitions/agent/${name}/executions`);
      const { data } = (await response.json()) as { data: { totalCount: number } };
      const [row] = await db.sql<[{ count: number }]>`
        select execution_count as count from definition_lines where type = 'agent' and name = ${name}`;
      if (data.totalCount !== row.count) {
        findings.add(
          "a wrong count",
          `${api.name} says ${data.totalCount} of ${name}, the table ${row.count}`,
        );
      }
    }
  }
  if (etags.size > 1) findings.add("a wrong answer", "the processes have different catalogues");
}
