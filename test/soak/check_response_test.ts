import { describe, expect, test } from "bun:test";
import { type Attempt, checkOutcome, type End } from "./check_response.ts";
import { GRACE_MS, Outages } from "./outages.ts";

const ATTEMPT: Attempt = {
  what: "GET /",
  api: "api-1",
  from: 1000,
  to: 2000,
  expects: [200],
  isExport: false,
  hasSlot: false,
};

function failure(status: number, headers: Record<string, string> = {}, message = "Cannot go on"): End {
  const body = Buffer.from(JSON.stringify({ error: { code: "CODE", message, requestId: "r-1" } }));
  return { type: "answer", status, headers: new Headers({ "x-request-id": "r-1", ...headers }), body };
}

/** Returns outages with one outage of `what`, which is ongoing if `to` is null. */
function away(what: string, from: number, to: number | null): Outages {
  const outages = new Outages();
  outages.list.push({ what, fault: "killed", from, to });
  return outages;
}

const NONE = new Outages();
const AGAIN = { "retry-after": "5" };

describe("checkOutcome with a response", () => {
  const body = Buffer.from("{}");
  const found: End = { type: "answer", status: 200, headers: new Headers(), body };

  test("accepts expected statuses, and 429 for requests whose concurrency is limited", () => {
    expect(checkOutcome(ATTEMPT, found, NONE)).toBeNull();
    expect(checkOutcome({ ...ATTEMPT, expects: [201] }, found, NONE)).toContain("answered 200");
    expect(checkOutcome({ ...ATTEMPT, expects: [404] }, failure(404), NONE)).toBeNull();
    expect(checkOutcome(ATTEMPT, failure(404), NONE)).toContain("answered 404");
    expect(checkOutcome(ATTEMPT, failure(429, AGAIN), NONE)).toContain("answered 429");
    expect(checkOutcome({ ...ATTEMPT, hasSlot: true }, failure(429, AGAIN), NONE)).toBeNull();
    expect(checkOutcome({ ...ATTEMPT, expects: [429] }, failure(429, AGAIN), NONE)).toBeNull();
    expect(checkOutcome({ ...ATTEMPT, expects: [429] }, failure(429), NONE)).toContain("without Retry-After");
  });

  test("rejects 500, 502 and 504, even during an outage", () => {
    for (const status of [500, 502, 504]) {
      expect(checkOutcome(ATTEMPT, failure(status), away("database", 0, null))).toContain(
        `answered ${status}`,
      );
    }
  });

  test("rejects an error response without the error envelope", () => {
    const bare: End = { type: "answer", status: 404, headers: new Headers(), body };
    expect(checkOutcome({ ...ATTEMPT, expects: [404] }, bare, NONE)).toContain("without its envelope");
  });

  test("accepts a 503 only with Retry-After and during a database outage", () => {
    expect(checkOutcome(ATTEMPT, failure(503, AGAIN), away("database", 1900, null))).toBeNull();
    expect(checkOutcome(ATTEMPT, failure(503), away("database", 1900, null))).toContain(
      "without Retry-After",
    );
    expect(checkOutcome(ATTEMPT, failure(503, AGAIN), away("database", 2100, null))).toContain("was there");
    expect(checkOutcome(ATTEMPT, failure(503, AGAIN), away("api-1", 1900, null))).toContain("was there");
    expect(checkOutcome(ATTEMPT, failure(503, AGAIN), away("database", 0, 1000 - GRACE_MS))).toBeNull();
    expect(checkOutcome(ATTEMPT, failure(503, AGAIN), away("database", -9, 999 - GRACE_MS))).toContain(
      "was there",
    );
  });

  test("accepts a 503 for an export when all streams are in use", () => {
    for (const message of [
      "Cannot start another export now: 8 are running",
      "Cannot start another export. This server is running 8, the maximum. Retry in 5 seconds.",
    ]) {
      const full = failure(503, AGAIN, message);
      expect(checkOutcome({ ...ATTEMPT, hasSlot: true }, full, NONE)).toBeNull();
      expect(checkOutcome(ATTEMPT, full, NONE)).toContain("was there");
    }
    expect(checkOutcome({ ...ATTEMPT, hasSlot: true }, failure(503, AGAIN), NONE)).toContain("was there");
  });
});

describe("checkOutcome without a response", () => {
  const refused: End = { type: "refused" };
  const broken = (hasHead: boolean): End => ({ type: "broken", hasHead, message: "closed" });

  test("accepts a lost connection only if the requested process was down", () => {
    for (const end of [refused, broken(false), broken(true)]) {
      expect(checkOutcome(ATTEMPT, end, away("api-1", 1500, 1600))).toBeNull();
      expect(checkOutcome(ATTEMPT, end, away("api-2", 1500, 1600))).toBeString();
      expect(checkOutcome(ATTEMPT, end, NONE)).toBeString();
    }
  });

  test("accepts an interrupted export if the database was down", () => {
    const gone = away("database", 1500, 1600);
    expect(checkOutcome({ ...ATTEMPT, isExport: true }, broken(true), gone)).toBeNull();
    expect(checkOutcome({ ...ATTEMPT, isExport: true }, broken(false), gone)).toBeString();
    expect(checkOutcome(ATTEMPT, broken(true), gone)).toBeString();
  });

  test("rejects a request that times out", () => {
    expect(checkOutcome(ATTEMPT, { type: "silent" }, away("api-1", 0, null))).toContain("no answer in 1 s");
  });
});
