import { expect, test } from "bun:test";
import { type Claim, type Permit, Semaphore, type Shortage } from "../../../../api/http/limits/slots.ts";

const LIMITS = { max: 4, perHolder: 2, perGroup: 3 };

/** Acquires a permit for a holder of a group; returns it or what is exhausted. */
function take(slots: Semaphore, holder: string, group: string | null = null): Permit | Shortage {
  const result = slots.take({ holder, group });
  return result.ok ? result.permit : result.shortage;
}

function permitOf(slots: Semaphore, claim: Claim): Permit {
  const result = slots.take(claim);
  if (!result.ok) throw new Error(`Cannot take: ${result.shortage}`);
  return result.permit;
}

test("a holder, a group and all have their shares, and the smallest that is used up is named", () => {
  const slots = new Semaphore(LIMITS);
  take(slots, "a", "x");
  take(slots, "a", "x");
  expect(take(slots, "a", "x")).toBe("holder");
  expect(take(slots, "a", "y")).toBe("holder");
  take(slots, "b", "x");
  expect(take(slots, "c", "x")).toBe("group");
  take(slots, "c", "y");
  expect([take(slots, "d", "y"), slots.used]).toEqual(["all", 4]);
});

test("a release frees the amount once", () => {
  const slots = new Semaphore(LIMITS);
  const first = permitOf(slots, { holder: "a", group: null });
  permitOf(slots, { holder: "a", group: null });
  first.release();
  first.release();
  expect([typeof take(slots, "a"), take(slots, "a"), slots.used]).toEqual(["object", "holder", 2]);
});

test("a permit that is over is free without a release", () => {
  const slots = new Semaphore({ max: 1, perHolder: 1, perGroup: 1 });
  let isOver = false;
  permitOf(slots, { holder: "a", group: null, isOver: () => isOver });
  expect(take(slots, "b")).toBe("all");
  isOver = true;
  expect([slots.used, typeof take(slots, "b")]).toEqual([0, "object"]);
});

test("amounts are summed; a first claim may exceed the holder's limit", () => {
  const bytes = new Semaphore({ max: 100, perHolder: 50, perGroup: 100 });
  const large = permitOf(bytes, { holder: "a", group: null, amount: 80 });
  expect(bytes.take({ holder: "a", group: null, amount: 1 })).toEqual({ ok: false, shortage: "holder" });
  expect(bytes.take({ holder: "b", group: null, amount: 30 })).toEqual({ ok: false, shortage: "all" });
  expect(bytes.take({ holder: "b", group: null, amount: 20 }).ok).toBe(true);
  large.release();
  bytes.hold({ holder: "c", group: null, amount: 200 });
  expect([bytes.used, bytes.take({ holder: "d", group: null, amount: 1 }).ok]).toEqual([220, false]);
});

test("a permit is contended when another holder waits for it, but not its own holder", () => {
  const slots = new Semaphore(LIMITS);
  const x = { group: "x" };
  const mine = permitOf(slots, { holder: "a", ...x });
  take(slots, "a", "x");
  expect([take(slots, "a", "x"), mine.isContended(60_000)]).toEqual(["holder", false]);
  const neighbor = permitOf(slots, { holder: "b", ...x });
  expect([take(slots, "b", "x"), mine.isContended(60_000)]).toEqual(["group", true]);
  expect(neighbor.isContended(60_000)).toBe(false);
  const stranger = permitOf(slots, { holder: "c", group: "y" });
  expect([take(slots, "c", "y"), neighbor.isContended(60_000)]).toEqual(["all", true]);
  expect(stranger.isContended(60_000)).toBe(false);
  expect(mine.isContended(-1)).toBe(false);
});
