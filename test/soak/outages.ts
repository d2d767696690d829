/** Records which components were down and when. Only an outage excuses a failure. */

/**
 * The time after an outage in which failures are still excused. Pools pause up to a second between attempts to connect
 * (sql/connection/pool.ts).
 */
export const GRACE_MS = 3000;

export interface Outage {
  /** The component that was down: `database`, or the name of a process. */
  what: string;
  /** The name of the fault in the report. */
  fault: string;
  /** The start of the outage, by `performance.now()`. */
  from: number;
  /** The end of the outage, by `performance.now()`; null while it lasts. */
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

  /** Returns true if any component was down, or just up again, between the two times. */
  coverAny(from: number, to: number): boolean {
    return this.list.some(({ what }) => this.cover(what, from, to));
  }

  /** Returns true if `what` was down, or just up again, between the two times. */
  cover(what: string, from: number, to: number): boolean {
    return this.list.some(
      (outage) =>
        outage.what === what && outage.from <= to && (outage.to === null || outage.to + GRACE_MS >= from),
    );
  }
}
