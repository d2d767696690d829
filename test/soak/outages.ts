/** What was down and when: the only excuse for a failure. */

/**
 * Time after everything is up again: the pools pause up to a second between attempts to connect
 * (sql/connection/pool.ts).
 */
export const GRACE_MS = 3000;

export interface Outage {
  /** `database`, or the name of a process. */
  what: string;
  /** The name in the report. */
  fault: string;
  /** By `performance.now()`. */
  from: number;
  /** Null while it lasts. */
  to: number | null;
}

export class Outages {
  readonly list: Outage[] = [];

  begin(what: string, fault: string): Outage {
    const outage = { what, fault, from: performance.now(), to: null };
    this.list.push(outage);
    return outage;
  }

  end(outage: Outage): void {
    outage.to = performance.now();
  }

  /** True if anything was down, or just up again, between the two instants. */
  coverAny(from: number, to: number): boolean {
    return this.list.some(({ what }) => this.cover(what, from, to));
  }

  /** True if `what` was down, or just up again, between the two instants. */
  cover(what: string, from: number, to: number): boolean {
    return this.list.some(
      (outage) =>
        outage.what === what && outage.from <= to && (outage.to === null || outage.to + GRACE_MS >= from),
    );
  }
}
