/** Calls the export job API, and reads the state behind it. */
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { BlobReader, TextWriter, ZipReader } from "@zip.js/zip.js";
import type { ExportJob } from "../../../api/exports/export_job.ts";
import { MARKER_NAME } from "../../../shared/artifacts/store.ts";
import type { TestApp, TestRequest } from "../http/app.ts";
import type { OrgRow } from "../postgres/factory.ts";

export const JOBS_PATH = "/api/v1/export/jobs";

/** A target for requests: the app itself, or a process behind a socket. */
export type Client = Pick<TestApp, "request">;

/** Requests an export of an organization. */
export function postJob(
  app: Client,
  caller: { key: string; org: Pick<OrgRow, "slug"> },
  body?: unknown,
  headers: TestRequest["headers"] = {},
): Promise<Response> {
  return app.request(JOBS_PATH, {
    method: "POST",
    key: caller.key,
    headers: { "x-org-slug": caller.org.slug, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the job in a response. Throws for an error response. */
export async function jobOf(response: Response): Promise<ExportJob> {
  const { job } = (await response.json()) as { job?: ExportJob };
  if (!job) throw new Error(`Cannot read a job: the answer is ${response.status}`);
  return job;
}

/** Returns the status and error code of an error response. */
export async function errorOf(response: Response): Promise<[number, string | undefined]> {
  const { error } = (await response.json()) as { error?: { code: string } };
  return [response.status, error?.code];
}

/** Lists active jobs without an unfinished queue entry, and unfinished queue entries without an active job. */
export async function listMismatches(app: Pick<TestApp, "db">): Promise<readonly unknown[]> {
  return app.db.sql`
    select j.id as job, q.id as entry
    from (select id from export_jobs where status in ('queued', 'running')) as j
    full join (
      select id from pgboss.job where name = 'build_org_export' and state in ('created', 'retry', 'active')
    ) as q on q.id = j.id
    where j.id is null or q.id is null`;
}

/** Returns a job's audit entries, oldest first. */
export async function listAudited(app: TestApp, jobId: string): Promise<readonly unknown[]> {
  return app.db.sql`
    select action, actor_user_id, credential_id, org_id
    from audit_log
    where subject_type = 'export_job' and subject_id = ${jobId}
    order by id`;
}

/** Backdates a ready job by `hours` hours: `ready_at`, `finished_at` and `expires_at`. */
export async function ageExportJob(app: TestApp, jobId: string, hours: number): Promise<void> {
  await app.db.sql`
    update export_jobs
    set ready_at = ready_at - make_interval(hours => ${hours}),
      finished_at = finished_at - make_interval(hours => ${hours}),
      expires_at = expires_at - make_interval(hours => ${hours})
    where id = ${jobId}`;
}

/** Returns the sorted file names in the artifact store, except the store's marker. */
export async function storedFiles(app: TestApp): Promise<string[]> {
  const names = await readdir(fileURLToPath(app.deps.config.artifactUrl)).catch(() => []);
  return names.filter((name) => name !== MARKER_NAME).sort();
}

/** Returns a job as the owner of `key` sees it. */
export async function getJob(app: Client, key: string, id: string): Promise<ExportJob> {
  return jobOf(await app.request(`${JOBS_PATH}/${id}`, { key }));
}

/** Cancels a job; `query` may be "?force=true". */
export function cancelJob(app: Client, key: string, id: string, query = ""): Promise<Response> {
  return app.request(`${JOBS_PATH}/${id}/cancel${query}`, { method: "POST", key });
}

/** Requests a job's file. */
export function downloadJob(
  app: Client,
  key: string,
  id: string,
  options: Pick<TestRequest, "headers" | "method"> = {},
): Promise<Response> {
  return app.request(`${JOBS_PATH}/${id}/download`, { key, ...options });
}

/** Returns the text of each file in a ZIP, by name, in the order of the central directory. */
export async function unzip(bytes: ArrayBuffer): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const reader = new ZipReader(new BlobReader(new Blob([bytes])));
  for (const entry of await reader.getEntries()) {
    if (!entry.directory) files.set(entry.filename, await entry.getData(new TextWriter()));
  }
  return files;
}
