/**
 * Records export jobs as clients saw them. No job may be lost or duplicated, and each must follow the state machine.
 */
import type { ExportJob } from "../../../api/exports/export_job.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

type Status = ExportJob["status"];

/** The statuses in which a client may see a job next. A client may miss a status in between. */
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  queued: ["queued", "running", "ready", "failed"],
  // An interrupted build returns to the queue.
  running: ["running", "queued", "ready", "failed"],
  ready: ["ready", "expired"],
  failed: ["failed"],
  expired: ["expired"],
};
/** The maximum number of attempts per build (docs/contract.md, Jobs). */
const MAX_ATTEMPTS = 3;

interface Known {
  status: Status;
  sha256: string | null;
  /** The time when the response arrived, by `performance.now()`. */
  at: number;
  /** True if a client has sent a request to cancel the job. */
  isCancelSent: boolean;
}

interface JobRow {
  id: string;
  status: Status;
  attempt: number;
  errorCode: string | null;
  artifactSha256: string | null;
}

export class JobLedger {
  readonly #jobs = new Map<string, Known>();
  #attempts = 0;

  get size(): number {
    return this.#jobs.size;
  }

  /** Counts a job before it is requested. */
  begin(): void {
    this.#attempts += 1;
  }

  beginCancel(id: string): void {
    const known = this.#jobs.get(id);
    if (known) known.isCancelSent = true;
  }

  /**
   * Records a job from the response to a request that was sent at `askedAt`. Returns a complaint if the job cannot have
   * this state.
   */
  see({ id, status, artifact }: ExportJob, askedAt: number): string | null {
    const sha256 = artifact?.sha256 ?? null;
    const before = this.#jobs.get(id);
    // This request was sent before the last response arrived, so its response may show an older state.
    if (before && before.at > askedAt) return null;
    const isCancelSent = before?.isCancelSent ?? false;
    this.#jobs.set(id, { status, sha256, isCancelSent, at: performance.now() });
    if (!before) return null;
    if (!NEXT[before.status].includes(status)) return `job ${id} was ${before.status} and is ${status}`;
    if (before.sha256 !== null && before.sha256 !== sha256) return `job ${id} has another file than before`;
    return null;
  }

  /** Returns the differences between the ledger and the database. Call it when no job is active. */
  async listTroubles(sql: Pool): Promise<string[]> {
    const rows = await sql<JobRow[]>`
      select id, status, attempt, error_code, artifact_sha256 from export_jobs`;
    const found = new Map(rows.map((row) => [row.id, row]));
    const troubles = [...this.#jobs].flatMap(([id, known]) => compare(id, known, found.get(id)));
    if (rows.length > this.#attempts) troubles.push(`${rows.length} jobs, of ${this.#attempts} asked for`);
    return [...troubles, ...rows.flatMap(endProblems)];
  }
}

function compare(id: string, known: Known, row: JobRow | undefined): string[] {
  if (!row) return [`job ${id} is lost`];
  if (!NEXT[known.status].includes(row.status)) return [`job ${id} was ${known.status} and is ${row.status}`];
  if (known.sha256 !== null && known.sha256 !== row.artifactSha256) return [`job ${id} has another file`];
  if (row.errorCode === "CANCELED" && !known.isCancelSent) return [`job ${id} was canceled by nobody`];
  return [];
}

/** Returns a problem if a job has a final state that a correct export cannot have. */
function endProblems({ id, status, attempt, errorCode }: JobRow): string[] {
  if (status === "ready" || status === "expired") return [];
  if (status === "failed" && errorCode === "CANCELED") return [];
  // The soak killed the job's runner in every attempt, so the failure is correct.
  if (status === "failed" && errorCode === "BUILD_FAILED" && attempt === MAX_ATTEMPTS) return [];
  return [`job ${id} ended as ${status} ${errorCode ?? ""} in attempt ${attempt}`];
}
