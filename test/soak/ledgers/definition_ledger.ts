/** What responses said about the versions that clients wrote. */
import type { DefinitionStatus } from "../../../shared/vocabulary.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

interface Known {
  /**
   * The possible statuses: one if it is known, two while a response is missing. Null means that the version does
   * not exist.
   */
  statuses: ReadonlySet<DefinitionStatus | null>;
  /** The possible hashes of its document. */
  hashes: ReadonlySet<string>;
}

interface VersionRow {
  name: string;
  version: string;
  status: DefinitionStatus;
  hash: string;
}

export class DefinitionLedger {
  /** By `name@version`. */
  readonly #versions = new Map<string, Known>();

  /** Records a write that may have this result, null for deletion; the version may also be unchanged. */
  begin(version: string, status: DefinitionStatus | null): void {
    const known = this.#versions.get(version) ?? { statuses: new Set([null]), hashes: new Set() };
    this.#versions.set(version, { ...known, statuses: new Set([...known.statuses, status]) });
  }

  /** Records a response with this state. */
  acknowledge(version: string, status: DefinitionStatus, hash: string): void {
    this.#versions.set(version, { statuses: new Set([status]), hashes: new Set([hash]) });
  }

  acknowledgeDeleted(version: string): void {
    this.#versions.set(version, { statuses: new Set([null]), hashes: new Set() });
  }

  /** Records a write of the document whose result is not known yet. */
  beginEdit(version: string): void {
    const known = this.#versions.get(version);
    // Marks the document as unknown until the next response.
    if (known) this.#versions.set(version, { ...known, hashes: new Set() });
  }

  /** Returns the contradictions of the database; `prefix` starts the names of clients' definitions. */
  async listTroubles(sql: Pool, prefix: string): Promise<string[]> {
    const rows = await sql<VersionRow[]>`
      select d.name, d.version, d.status, d.hash
      from definitions as d
      where d.name like ${`${prefix}%`}`;
    const found = new Map(rows.map((row) => [`${row.name}@${row.version}`, row]));
    const wrong = [...this.#versions].flatMap(([version, known]) =>
      compare(version, known, found.get(version)),
    );
    const unknown = [...found.keys()].filter((version) => !this.#versions.has(version));
    return [...wrong, ...unknown.map((version) => `nobody has made ${version}`)];
  }
}

function compare(version: string, known: Known, row: VersionRow | undefined): string[] {
  const status = row?.status ?? null;
  if (!known.statuses.has(status)) {
    return [`${version} is ${status ?? "lost"}, and clients know it as ${[...known.statuses].join(" or ")}`];
  }
  if (row && known.hashes.size > 0 && !known.hashes.has(row.hash)) return [`${version} has another document`];
  return [];
}
