/** What has to hold of export jobs, files and mails whatever has died on the way. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expireOrgExports } from "../../../jobs/expire_org_exports.ts";
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

const MAIL_TIMEOUT_MS = 60_000;

export interface Aftermath {
  db: TestDatabase;
  /** Of the service's processes. */
  dataDir: string;
  /** Theirs: it has seen every sending, also a second of the same mail. */
  mailServer: MailServer;
  /** Where it is not in `dataDir`. */
  artifactDirectory?: string;
  /** A runner may have died between the server's yes and the note of it: then the same mail is sent again. */
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
 * Everything that is not as it should be, in words: an active job without an entry in the queue or the other way round,
 * a ready job whose file is not whole, a file that a sweep leaves and nobody owns, a ready job without its one mail. A
 * runner has to be working, for the mails.
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

/** What is wrong with a job's file, also for a reader that is not of the library that writes it. */
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
    // README.md, schema.json and manifest.json come beside the datasets.
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
  await expireOrgExports({ config, sql, store, owner, log }, new AbortController().signal);
}

/** What jobs the mails are about, sorted, once all are out. */
async function listMails({ db, mailServer, mayRepeatMails = false }: Aftermath): Promise<string[]> {
  await waitFor(async () => {
    // What waits for its next try, because a runner died with it, is tried now.
    await db.sql`
      update pgboss.job set start_after = now() where name = 'send_export_ready' and state = 'retry'`;
    const [row] = await db.sql<[{ isOut: boolean }]>`
      select coalesce(bool_and(mailed_at is not null), true) as is_out from export_jobs where status = 'ready'`;
    return row.isOut;
  }, MAIL_TIMEOUT_MS);
  const jobs = mailServer.received.map(jobOfMail).sort();
  return mayRepeatMails ? [...new Set(jobs)] : jobs;
}

/** Lets the queue notice dead runners sooner than in production: jobs that are queued from now on. */
export async function shortenHeartbeats({ sql }: TestDatabase, seconds: number): Promise<void> {
  await sql`update pgboss.queue set heartbeat_seconds = ${seconds}`;
}
