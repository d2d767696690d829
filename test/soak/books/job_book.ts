/** What clients were told of export jobs: none is lost or doubled, and each moves as the state machine says. */
import type { ExportJob } from "../../../api/exports/export_job.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

type Status = ExportJob["status"];

/** What may be seen after a status: a client may miss those in between. */
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  queued: ["queued", "running", "ready", "failed"],
  // A build that was cut off is given back.
  running: ["running", "queued", "ready", "failed"],
  ready: ["ready", "expired"],
  failed: ["failed"],
  expired: ["expired"],
};
/** Attempts of a build (docs/contract.md, Jobs). */
const MAX_ATTEMPTS = 3;

interface Known {
  status: Status;
  sha256: string | null;
  /** When the answer was there, by `performance.now()`. */
  at: number;
  /** A cancel was sent; acknowledged when the job was seen failed. */
  isCancelSent: boolean;
}

interface JobRow {
  id: string;
  status: Status;
  attempt: number;
  errorCode: string | null;
  artifactSha256: string | null;
}

export class JobBook {
  readonly #jobs = new Map<string, Known>();
  #attempts = 0;

  get size(): number {
    return this.#jobs.size;
  }

  /** Before a job is asked for. */
  begin(): void {
    this.#attempts += 1;
  }

  beginCancel(id: string): void {
    const known = this.#jobs.get(id);
    if (known) known.isCancelSent = true;
  }

  /**
   * Notes how a client has seen a job that it asked for at the instant `askedAt`; says so when it cannot have become
   * that from what was seen before.
   */
  see({ id, status, artifact }: ExportJob, askedAt: number): string | null {
    const sha256 = artifact?.sha256 ?? null;
    const before = this.#jobs.get(id);
    // Of two answers to requests at the same time nobody can say which is the later one.
    if (before && before.at > askedAt) return null;
    const isCancelSent = before?.isCancelSent ?? false;
    this.#jobs.set(id, { status, sha256, isCancelSent, at: performance.now() });
    if (!before) return null;
    if (!NEXT[before.status].includes(status)) return `job ${id} was ${before.status} and is ${status}`;
    if (before.sha256 !== null && before.sha256 !== sha256) return `job ${id} has another file than before`;
    return null;
  }

  /** What the database has to say against it, when no job is active any more. */
  async listTroubles(sql: Pool): Promise<string[]> {
    const rows = await sql<JobRow[]>`
      select id, status, attempt, error_code, artifact_sha256 from export_jobs`;
    const found = new Map(rows.map((row) => [row.id, row]));
    const troubles = [...this.#jobs].flatMap(([id, known]) => compare(id, known, found.get(id)));
    if (rows.length > this.#attempts) troubles.push(`${rows.length} jobs, of ${this.#attempts} asked for`);
    return [...troubles, ...rows.flatMap(judgeEnd)];
  }
}

function compare(id: string, known: Known, row: JobRow | undefined): string[] {
  if (!row) return [`job ${id} is lost`];
  if (!NEXT[known.status].includes(row.status)) return [`job ${id} was ${known.status} and is ${row.status}`];
  if (known.sha256 !== null && known.sha256 !== row.artifactSha256) return [`job ${id} has another file`];
  if (row.errorCode === "CANCELED" && !known.isCancelSent) return [`job ${id} was canceled by nobody`];
  return [];
}

/** How a job may have ended when nothing was wrong with what it exports. */
function judgeEnd({ id, status, attempt, errorCode }: JobRow): string[] {
  if (status === "ready" || status === "expired") return [];
  if (status === "failed" && errorCode === "CANCELED") return [];
  // Three builders died of it: killed by us, so this is as it has to be.
  if (status === "failed" && errorCode === "BUILD_FAILED" && attempt === MAX_ATTEMPTS) return [];
  return [`job ${id} ended as ${status} ${errorCode ?? ""} in attempt ${attempt}`];
}
