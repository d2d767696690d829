/** What has to hold of export jobs, files and mails whatever has died on the way. */
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expireOrgExports } from "../../jobs/expire_org_exports.ts";
import { openArtifactStore } from "../../shared/artifacts.ts";
import { EXPORT_DATASET_NAMES } from "../../shared/export_datasets.ts";
import { createLog } from "../../shared/log.ts";
import type { TestDatabase } from "./database.ts";
import { listMismatches } from "./export_job.ts";
import { waitFor } from "./wait_for.ts";

const MAIL_TIMEOUT_MS = 60_000;

export interface Aftermath {
  db: TestDatabase;
  /** Of the service's processes. */
  dataDir: string;
  /** Where it is not in `dataDir`. */
  artifactDirectory?: string;
}

interface ReadyRow {
  id: string;
  artifactKey: string;
  artifactBytes: number;
  artifactSha256: string;
  projectsDone: number;
}

/**
 * Checks everything: every active job has its entry in the queue and the other way round; every ready job has a file
 * that is whole; a sweep leaves no other file; one mail went out for each. A runner has to be working, for the mails.
 */
export async function expectAllWell(place: Aftermath): Promise<void> {
  expect(await listMismatches(place)).toEqual([]);
  const ready = await place.db.sql<ReadyRow[]>`
    select id, artifact_key, artifact_bytes, artifact_sha256, projects_done
    from export_jobs
    where status = 'ready'`;
  const artifacts = place.artifactDirectory ?? join(place.dataDir, "artifacts");
  for (const row of ready) await expectWhole(artifacts, row);
  await sweep(place.db, artifacts);
  const keys = ready.map(({ artifactKey }) => artifactKey).sort();
  expect((await readdir(artifacts).catch(() => [])).sort()).toEqual(keys);
  await expectMails(
    place,
    ready.map(({ id }) => id),
  );
}

/** Opened by a program that is not ours. */
async function expectWhole(directory: string, row: ReadyRow): Promise<void> {
  const path = join(directory, row.artifactKey);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  expect([bytes, hash.digest("hex")]).toEqual([row.artifactBytes, row.artifactSha256]);
  const test = Bun.spawnSync(["unzip", "-tq", path]);
  expect([test.exitCode, test.stderr.toString()]).toEqual([0, ""]);
  const names = Bun.spawnSync(["unzip", "-Z1", path]).stdout.toString().trim().split("\n");
  expect(names.length).toBe(row.projectsDone * EXPORT_DATASET_NAMES.length + 1);
}

async function sweep(db: TestDatabase, directory: string): Promise<void> {
  const store = openArtifactStore(pathToFileURL(directory).href);
  const log = createLog({ level: "silent", process: "test" });
  await expireOrgExports({ sql: db.sql, store, log }, new AbortController().signal);
}

async function expectMails({ db, dataDir }: Aftermath, jobIds: readonly string[]): Promise<void> {
  await waitFor(async () => {
    // What waits for its next try, because a runner died with it, is tried now.
    await db.sql`
      update pgboss.job set start_after = now() where name = 'send_export_ready' and state = 'retry'`;
    const [row] = await db.sql<[{ isOut: boolean }]>`
      select coalesce(bool_and(mailed_at is not null), true) as is_out from export_jobs where status = 'ready'`;
    return row.isOut;
  }, MAIL_TIMEOUT_MS);
  const mails = await readdir(join(dataDir, "mail")).catch(() => []);
  expect(mails.length).toBe(jobIds.length);
  for (const id of jobIds) expect(mails.filter((name) => name.includes(id)).length).toBe(1);
}

/** Lets the queue notice dead runners sooner than in production: jobs that are queued from now on. */
export async function shortenHeartbeats({ sql }: TestDatabase, seconds: number): Promise<void> {
  await sql`update pgboss.queue set heartbeat_seconds = ${seconds}`;
}
