/** Records clients' keys and sessions. The service must refuse revoked credentials and accept valid ones. */
import type { Pool } from "../../../sql/connection/pool.ts";

/** Every process refuses a revoked credential within a second. */
const REFUSED_WITHIN_MS = 1_000;

export class KeyLedger {
  readonly #dead: { secret: string; since: number }[] = [];
  /** Acknowledged keys by id: true if the key is revoked, null if that is unknown. */
  readonly #keys = new Map<string, boolean | null>();
  #attempts = 0;

  /** Credentials that were revoked so long ago that every process must refuse them. */
  get dead(): string[] {
    const until = performance.now() - REFUSED_WITHIN_MS;
    return this.#dead.filter(({ since }) => since <= until).map(({ secret }) => secret);
  }

  acknowledgeDead(secret: string): void {
    this.#dead.push({ secret, since: performance.now() });
  }

  /** Counts a key before it is requested. */
  begin(): void {
    this.#attempts += 1;
  }

  acknowledge(id: string): void {
    this.#keys.set(id, false);
  }

  /** Records a revocation before it is requested. */
  beginRevoking(id: string): void {
    this.#keys.set(id, null);
  }

  acknowledgeRevoked(id: string, key: string): void {
    this.#keys.set(id, true);
    this.acknowledgeDead(key);
  }

  /** Returns the differences between the ledger and the database, for the keys of these users. */
  async listTroubles(sql: Pool, userIds: readonly string[]): Promise<string[]> {
    const rows = await sql<{ id: string; isRevoked: boolean }[]>`
      select id, revoked_at is not null as is_revoked from api_keys where user_id = any(${[...userIds]}::uuid[])`;
    const found = new Map(rows.map(({ id, isRevoked }) => [id, isRevoked]));
    const troubles = [...this.#keys].flatMap(([id, isRevoked]) => {
      if (!found.has(id)) return [`the acknowledged key ${id} is lost`];
      if (isRevoked === null || found.get(id) === isRevoked) return [];
      return [`the key ${id} is ${isRevoked ? "not revoked" : "revoked"}, and clients know better`];
    });
    if (rows.length > this.#attempts) troubles.push(`${rows.length} keys, of ${this.#attempts} asked for`);
    return troubles;
  }
}
