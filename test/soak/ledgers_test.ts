import { expect, test } from "bun:test";
import { AbuseLedger } from "./ledgers/abuse_ledger.ts";
import { LatencyLedger, type Phase } from "./ledgers/latency_ledger.ts";

/** Records 1,000 responses of a kind: one in fifty took `slowMs`, the others 10 ms. */
function addAnswers(ledger: LatencyLedger, phase: Phase, kind: string, slowMs: number): void {
  ledger.phase = phase;
  for (let n = 0; n < 1000; n += 1) ledger.add(kind, n % 50 === 0 ? slowMs : 10);
}

test("the latency ledger reports a kind of client whose 99th-percentile latency more than triples", () => {
  const ledger = new LatencyLedger();
  addAnswers(ledger, "warm-up", "reader", 9000);
  addAnswers(ledger, "calm", "reader", 100);
  addAnswers(ledger, "calm", "editor", 100);
  addAnswers(ledger, "hostile", "reader", 301);
  addAnswers(ledger, "hostile", "editor", 300);
  addAnswers(ledger, "over", "editor", 9000);
  expect(ledger.listTroubles()).toEqual([
    "reader: 99 % of answers came within 100 ms, and beside abusers within 301 ms, 3.0 times as long",
  ]);
  expect(ledger.format()).toMatch(
    /reader .* 1,000 \| +10\.0 \| +100\.0 .* 1,000 \| +10\.0 \| +301\.0 \| +3\.01 \|/,
  );
});

test("the latency ledger reports a phase with too few responses", () => {
  const ledger = new LatencyLedger();
  addAnswers(ledger, "calm", "reader", 100);
  ledger.phase = "hostile";
  for (let n = 0; n < 299; n += 1) ledger.add("reader", 10);
  expect(ledger.listTroubles()).toEqual(["too few answers to compare: let it run longer"]);
  ledger.add("reader", 10);
  expect(ledger.listTroubles()).toEqual([]);
});

test("the abuse ledger reports kinds of client that never got a response, and counts outcomes", () => {
  const ledger = new AbuseLedger();
  for (const end of ["400", "400", "429", "broken"]) ledger.add("nester", end);
  ledger.add("searcher", "refused");
  expect(ledger.requests).toBe(5);
  expect(ledger.listTroubles(["nester", "searcher", "differ"])).toEqual([
    "searcher was never answered",
    "differ was never answered",
  ]);
  expect(ledger.format()).toContain("400: 2, 429: 1, broken: 1");
});
