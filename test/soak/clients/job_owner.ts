/** Clients that queue exports of an organization, poll the jobs, cancel some, and download the finished files. */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ExportJob } from "../../../api/exports/export_job.ts";
import { JOBS_PATH, unzip } from "../../helpers/exports/export_job.ts";
import type { Person } from "../../helpers/postgres/factory.ts";
import { type Ask, ask } from "../ask.ts";
import type { Chance } from "../chance.ts";
import { countRows } from "../count_rows.ts";
import type { ClientKind, Soak } from "../soak.ts";

const CANCELED = 0.1;
const POLL_MS = [200, 800] as const;
/** The maximum size of archives that this client opens. The final check opens larger ones. */
const OPENED_BYTES = 4 * 2 ** 20;

interface Manifest {
  format: string;
  projects: { directory: string; files: Record<string, { name: string; rows: number }> }[];
}

/** A client and the user whose organization it exports. */
interface Owner {
  soak: Soak;
  chance: Chance;
  person: Person;
}

export const makeJobOwner: ClientKind = (soak, chance, number) => {
  const { jobOwners } = soak.world;
  const person = jobOwners[number % jobOwners.length];
  if (!person) throw new Error("Cannot queue jobs: nobody owns an organization");
  const owner = { soak, chance, person };
  return async () => {
    const id = await queue(owner);
    if (id === null) return;
    if (chance.happens(CANCELED)) await cancel(owner, id);
    const job = await watch(owner, id);
    if (job?.status === "ready") await download(owner, job);
  };
};

/** Sends a request whose response describes a job, and records the job's state. */
async function askJob({ soak, chance, person }: Owner, request: Ask): Promise<ExportJob | null> {
  const askedAt = performance.now();
  const answer = await ask(soak, chance, { key: person.key, org: person.org.slug, ...request });
  if (!answer || answer.status >= 400) return null;
  const { job } = answer.json<{ job: ExportJob }>();
  if (answer.status === 201) soak.tally.add("jobs");
  const complaint = soak.ledgers.jobs.see(job, askedAt);
  if (complaint) soak.findings.add("a job moved as none may", complaint);
  return job;
}

async function queue(owner: Owner): Promise<string | null> {
  const { soak, chance } = owner;
  soak.ledgers.jobs.begin();
  const body = { format: chance.pick(["ndjson", "csv"]) };
  const job = await askJob(owner, { method: "POST", path: JOBS_PATH, body, expects: [200, 201] });
  return job?.id ?? null;
}

async function cancel(owner: Owner, id: string): Promise<void> {
  owner.soak.ledgers.jobs.beginCancel(id);
  // A job that has finished by now cannot be canceled, so 409 is allowed.
  await askJob(owner, { method: "POST", path: `${JOBS_PATH}/${id}/cancel`, expects: [200, 409] });
}

/** Waits until the job has ended and returns it; null if the load ends first. */
async function watch(owner: Owner, id: string): Promise<ExportJob | null> {
  const { soak, chance } = owner;
  while (!soak.over.aborted) {
    const job = await askJob(owner, { path: `${JOBS_PATH}/${id}` });
    if (job && job.status !== "queued" && job.status !== "running") return job;
    await delay(chance.between(...POLL_MS));
  }
  return null;
}

async function download({ soak, chance, person }: Owner, { id, artifact }: ExportJob): Promise<void> {
  const answer = await ask(soak, chance, {
    path: `${JOBS_PATH}/${id}/download`,
    key: person.key,
    hasSlot: true,
  });
  if (answer?.status !== 200) return;
  soak.tally.add("downloads");
  const sha256 = createHash("sha256").update(answer.body).digest();
  const isWhole =
    sha256.toString("hex") === artifact?.sha256 &&
    answer.headers.get("repr-digest") === `sha-256=:${sha256.toString("base64")}:` &&
    Number(answer.headers.get("content-length")) === artifact.bytes;
  if (!isWhole)
    soak.findings.add("an export is not whole", `the file of job ${id} is not what it was announced as`);
  if (answer.body.length > OPENED_BYTES) return;
  const wrong = await listWrongFiles(answer.body);
  soak.findings.addAll(
    "an export is not whole",
    wrong.map((name) => `${name} of job ${id}`),
  );
}

/** Returns the files of an organization export whose row counts differ from the manifest. */
async function listWrongFiles(archive: Buffer): Promise<string[]> {
  const files = await unzip(new Uint8Array(archive).buffer);
  const { format, projects } = JSON.parse(files.get("manifest.json") ?? "") as Manifest;
  return projects.flatMap((project) =>
    Object.values(project.files)
      .filter(({ name, rows }) => {
        const content = files.get(`${project.directory}/${name}`);
        return content === undefined || countRows(Buffer.from(content), format) !== rows;
      })
      .map(({ name }) => `${project.directory}/${name}`),
  );
}
