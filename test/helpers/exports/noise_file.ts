/** Creates a finished export whose file is random data, larger than all socket buffers. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ListeningApp } from "../http/listening_app.ts";
import { openTestRunner } from "../process/job_runner.ts";
import { jobOf, postJob } from "./export_job.ts";
import { makeExportProject } from "./export_project.ts";
import { beginDownload } from "./slow_download.ts";

/** The size of the file, more than the sockets on both sides buffer. */
export const NOISE_FILE_BYTES = 24 * 2 ** 20;

/**
 * Creates the export in the server's artifact store. The returned functions download the file, by default as the
 * export's requester.
 */
export async function makeNoiseFile({ app, origin }: ListeningApp) {
  const { person } = await makeExportProject(app);
  const { id } = await jobOf(await postJob(app, person));
  await using runner = await openTestRunner(app);
  await runner.build(id);
  const [{ artifactKey }] = await app.db.sql<[{ artifactKey: string }]>`
    update export_jobs set artifact_bytes = ${NOISE_FILE_BYTES} where id = ${id} returning artifact_key`;
  await writeFile(
    join(fileURLToPath(app.deps.config.artifactUrl), artifactKey),
    randomBytes(NOISE_FILE_BYTES),
  );
  const url = `${origin}/api/v1/export/jobs/${id}/download`;
  return {
    id,
    person,
    begin: (key = person.key) => beginDownload(url, { authorization: `Bearer ${key}` }),
    fetch: (key = person.key, headers = {}) =>
      fetch(url, { headers: { authorization: `Bearer ${key}`, ...headers } }),
  };
}
