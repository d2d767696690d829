/** Tracks the possible states of every version that clients write, from their requests and the responses. */
import type { DefinitionStatus } from "../../../shared/vocabulary.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

interface Known {
  /**
   * The possible statuses: one if the status is known, two while a response is missing. Null stands for a version that
   * does not exist.
   */
  statuses: ReadonlySet<DefinitionStatus | null>;
  /** The possible hashes of the version's document; empty if the hash is unknown. */
  hashes: ReadonlySet<string>;
}

interface VersionRow {
  name: string;
  version: string;
  status: DefinitionStatus;
  hash: string;
}

export class DefinitionLedger {
  /** The known versions, by `name@version`. */
  readonly #versions = new Map<string, Known>();

  /**
   * Records a write before its response arrives. `status` is the status that it sets; null for a deletion. The version
   * may also keep its previous status.
   */
  begin(version: string, status: DefinitionStatus | null): void {
    const known = this.#versions.get(version) ?? { statuses: new Set([null]), hashes: new Set() };
    this.#versions.set(version, { ...known, statuses: new Set([...known.statuses, status]) });
  }

  /** Records the state of a version in a response. */
  acknowledge(version: string, status: DefinitionStatus, hash: string): void {
    this.#versions.set(version, { statuses: new Set([status]), hashes: new Set([hash]) });
  }

  acknowledgeDeleted(version: string): void {
    this.#versions.set(version, { statuses: new Set([null]), hashes: new Set() });
  }

  /** Records an edit of the document before its response arrives. */
  beginEdit(version: string): void {
    const known = this.#versions.get(version);
    // Marks the document as unknown until the next response.
    if (known) this.#versions.set(version, { ...known, hashes: new Set() });
  }

  /**
   * Returns the differences between the ledger and the database. The names of clients' definitions start with `prefix`.
   */
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
