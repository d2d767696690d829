/** Checks the invariants of export jobs, files and mails after a process has died. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { deleteExpiredExports } from "../../../jobs/delete_expired_exports.ts";
import { openStoreOwner } from "../../../jobs/store_owner.ts";
import { openArtifactDirectory } from "../../../shared/artifacts/directory.ts";
import { MARKER_NAME } from "../../../shared/artifacts/store.ts";
import { EXPORT_DATASET_NAMES } from "../../../shared/exports/datasets.ts";
import { createLog } from "../../../shared/process/log.ts";
import { jobOfMail, type MailServer } from "../network/mail_server.ts";
import type { TestDatabase } from "../postgres/database.ts";
import { waitFor } from "../wait_for.ts";
import { listMismatches } from "./export_job.ts";
import { testZip } from "./zip_file.ts";

export interface Aftermath {
  db: TestDatabase;
  /** The data directory of the service's processes. */
  dataDir: string;
  /** The mail server, which keeps every mail that it receives, including duplicates. */
  mailServer: MailServer;
  /** The directory of the artifact store, if it is not in `dataDir`. */
  artifactDirectory?: string;
  /**
   * True if a mail may arrive twice. If a runner dies after the server accepts a mail and before the runner records the
   * delivery, the mail is sent again.
   */
  mayRepeatMails?: boolean;
}

interface ReadyRow {
  id: string;
  artifactKey: string;
  artifactBytes: number;
  artifactSha256: string;
  projectsDone: number;
}

/**
 * Returns descriptions of all violated invariants: an active job without a queue entry, a queue entry without an active
 * job, a ready job with a damaged file, a file that no job owns and no sweep deletes, a ready job without exactly one
 * mail. A runner must be working, because it sends the mails.
 */
export async function listTroubles(place: Aftermath): Promise<string[]> {
  const ready = await place.db.sql<ReadyRow[]>`
    select id, artifact_key, artifact_bytes, artifact_sha256, projects_done
    from export_jobs
    where status = 'ready'`;
  const artifacts = place.artifactDirectory ?? join(place.dataDir, "artifacts");
  const troubles = (await listMismatches(place)).map((row) => `job and queue differ: ${JSON.stringify(row)}`);
  for (const row of ready) troubles.push(...(await listFaults(artifacts, row)));
  await sweep(place.db, artifacts);
  const keys = new Set(ready.map(({ artifactKey }) => artifactKey));
  const files = await readdir(artifacts).catch(() => []);
  const left = files.filter((name) => !keys.has(name) && name !== MARKER_NAME);
  troubles.push(...left.map((name) => `nobody owns ${name}`));
  const mails = await listMails(place);
  const expected = ready.map(({ id }) => id).sort();
  if (mails.join() !== expected.join()) troubles.push(`mails are about ${mails}, not ${expected}`);
  return troubles;
}

/** Lists the faults of a job's file. Reads the file with a different library than the one that writes it. */
async function listFaults(directory: string, row: ReadyRow): Promise<string[]> {
  const path = join(directory, row.artifactKey);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  const names = await testZip(path).catch(() => null);
  const checks: [boolean, string][] = [
    [bytes === row.artifactBytes, "its length"],
    [hash.digest("hex") === row.artifactSha256, "its sha256"],
    [names !== null, "its content"],
    // Each ZIP also contains README.md, schema.json and manifest.json.
    [names?.length === row.projectsDone * EXPORT_DATASET_NAMES.length + 3, "the number of its entries"],
  ];
  return checks.flatMap(([isRight, what]) => (isRight ? [] : [`wrong in ${row.artifactKey}: ${what}`]));
}

async function sweep(db: TestDatabase, directory: string): Promise<void> {
  const store = openArtifactDirectory(directory);
  const log = createLog({ level: "silent", process: "test" });
  const { sql } = db;
  const owner = openStoreOwner({ sql, store, log });
  const config = { exportRetentionHours: 72 };
  await deleteExpiredExports({ config, sql, store, owner, log }, new AbortController().signal);
}

/** Waits until the mail of every ready job is sent. Returns the sorted job ids of the received mails. */
async function listMails({ db, mailServer, mayRepeatMails = false }: Aftermath): Promise<string[]> {
  await waitFor(async () => {
    // Makes pending retries due now. A mail waits for a retry if its runner died.
    await db.sql`
      update pgboss.job set start_after = now() where name = 'send_export_ready' and state = 'retry'`;
    const [row] = await db.sql<[{ isOut: boolean }]>`
      select coalesce(bool_and(mailed_at is not null), true) as is_out from export_jobs where status = 'ready'`;
    return row.isOut;
  });
  const jobs = mailServer.received.map(jobOfMail).sort();
  return mayRepeatMails ? [...new Set(jobs)] : jobs;
}

/**
 * Makes the queue treat a runner as dead after `seconds` seconds without a heartbeat, fewer than in production. Applies
 * to jobs queued from now on.
 */
export async function shortenHeartbeats({ sql }: TestDatabase, seconds: number): Promise<void> {
  await sql`update pgboss.queue set heartbeat_seconds = ${seconds}`;
}

/**
 * Expires the heartbeats of all active jobs. At its next check, within five seconds, the queue fails the attempts of
 * dead runners and retries their jobs. Tests of the retry itself use this function. test/faults/replaced_runner_test.ts
 * covers heartbeats that lapse by themselves.
 */
export async function lapseHeartbeats({ sql }: TestDatabase): Promise<void> {
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`;
}
