/** What clients were told of the versions that they wrote. */
import type { DefinitionStatus } from "../../../shared/vocabulary.ts";
import type { Pool } from "../../../sql/connection/pool.ts";

interface Known {
  /** The statuses it may have: one once it is known, two while an answer is missing. `null` stands for none at all. */
  statuses: ReadonlySet<DefinitionStatus | null>;
  /** The hashes its document may have. */
  hashes: ReadonlySet<string>;
}

interface VersionRow {
  name: string;
  version: string;
  status: DefinitionStatus;
  hash: string;
}

export class DefinitionBook {
  /** By `name@version`. */
  readonly #versions = new Map<string, Known>();

  /** A write was sent that may make this of the version, `null` nothing at all; it may also stay as it was. */
  begin(version: string, status: DefinitionStatus | null): void {
    const known = this.#versions.get(version) ?? { statuses: new Set([null]), hashes: new Set() };
    this.#versions.set(version, { ...known, statuses: new Set([...known.statuses, status]) });
  }

  /** A client was told that it is like this. */
  acknowledge(version: string, status: DefinitionStatus, hash: string): void {
    this.#versions.set(version, { statuses: new Set([status]), hashes: new Set([hash]) });
  }

  acknowledgeDeleted(version: string): void {
    this.#versions.set(version, { statuses: new Set([null]), hashes: new Set() });
  }

  /** A write of the document was sent, and what becomes of it is not known yet. */
  beginEdit(version: string): void {
    const known = this.#versions.get(version);
    // Whatever the document is, nobody can say: the next answer will.
    if (known) this.#versions.set(version, { ...known, hashes: new Set() });
  }

  /** What the database has to say against it; `prefix` is what names of clients' definitions begin with. */
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
