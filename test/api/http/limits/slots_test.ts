import { expect, test } from "bun:test";
import { type Claim, type Permit, Slots } from "../../../../api/http/limits/slots.ts";
import { ApiError } from "../../../../shared/errors.ts";

const LIMITS = { max: 4, perHolder: 2, perGroup: 3 };
const TEXTS = {
  holder: (limit: number) => `holder ${limit}`,
  group: (limit: number) => `group ${limit}`,
  all: ({ limit }: { limit: number }) => `all ${limit}`,
};

/** Takes a slot for a holder in a group. Returns the permit or the error message. */
function take(slots: Slots, holder: string, group: string | null = null): Permit | string {
  try {
    return slots.take({ holder, group });
  } catch (error) {
    return (error as Error).message;
  }
}

function errorOf(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error("expected an error of the API");
}

test("limits apply per holder, per group and to all callers together, and the error names the smallest exhausted limit", () => {
  const slots = new Slots(LIMITS, TEXTS);
  take(slots, "a", "x");
  take(slots, "a", "x");
  expect(take(slots, "a", "x")).toBe("holder 2");
  expect(take(slots, "a", "y")).toBe("holder 2");
  take(slots, "b", "x");
  expect(take(slots, "c", "x")).toBe("group 3");
  take(slots, "c", "y");
  expect([take(slots, "d", "y"), slots.used]).toEqual(["all 4", 4]);
});

test("the error names the exhausted share only if holders have groups", () => {
  const full = { max: 1, perHolder: 1, perGroup: 1 };
  const { group: _, ...withoutGroup } = TEXTS;
  const errors = [TEXTS, withoutGroup].map((texts) => {
    const slots = new Slots(full, texts);
    slots.take({ holder: "a", group: "x" });
    const claims = [
      { holder: "a", group: "x" },
      { holder: "b", group: "x" },
      { holder: "b", group: null },
    ];
    return claims.map((claim) => {
      const error = errorOf(() => slots.take(claim));
      expect(errorOf(() => slots.requireFree(claim))).toEqual(error);
      return [error.code, error.details, error.headers["Retry-After"]];
    });
  });
  expect(errors).toEqual([
    [
      ["RATE_LIMITED", { share: "user", limit: 1 }, "5"],
      ["RATE_LIMITED", { share: "organization", limit: 1 }, "5"],
      ["SERVICE_UNAVAILABLE", undefined, "5"],
    ],
    [
      ["RATE_LIMITED", undefined, "5"],
      ["SERVICE_UNAVAILABLE", undefined, "5"],
      ["SERVICE_UNAVAILABLE", undefined, "5"],
    ],
  ]);
});

test("requireFree() takes no slot", () => {
  const slots = new Slots(LIMITS, TEXTS);
  slots.requireFree({ holder: "a", group: null });
  expect(slots.used).toBe(0);
});

test("releasing a permit repeatedly frees its amount once", () => {
  const slots = new Slots(LIMITS, TEXTS);
  const first = slots.take({ holder: "a", group: null });
  slots.take({ holder: "a", group: null });
  first.release();
  first.release();
  expect([typeof take(slots, "a"), take(slots, "a"), slots.used]).toEqual(["object", "holder 2", 2]);
});

test("a permit whose request is over frees its slot without a release", () => {
  const slots = new Slots({ max: 1, perHolder: 1, perGroup: 1 }, TEXTS);
  let isOver = false;
  slots.take({ holder: "a", group: null, isOver: () => isOver });
  expect(take(slots, "b")).toBe("all 1");
  isOver = true;
  expect([slots.used, typeof take(slots, "b")]).toEqual([0, "object"]);
});

test("amounts are summed, and a holder's first claim may exceed the holder's limit", () => {
  const bytes = new Slots({ max: 100, perHolder: 50, perGroup: 100 }, TEXTS);
  const claimOf = (holder: string, amount: number): Claim => ({ holder, group: null, amount });
  const large = bytes.take(claimOf("a", 80));
  expect(() => bytes.take(claimOf("a", 1))).toThrow("holder 50");
  expect(() => bytes.take(claimOf("b", 30))).toThrow("all 100");
  bytes.take(claimOf("b", 20));
  large.release();
  bytes.hold(claimOf("c", 200));
  expect(() => bytes.take(claimOf("d", 1))).toThrow("all 100");
  expect(bytes.used).toBe(220);
});

test("a permit is contended once it makes another holder's claim fail, but not its own holder's claim", () => {
  const slots = new Slots(LIMITS, TEXTS);
  const x = { group: "x" };
  const mine = slots.take({ holder: "a", ...x });
  take(slots, "a", "x");
  expect([take(slots, "a", "x"), mine.isContended(60_000)]).toEqual(["holder 2", false]);
  const neighbor = slots.take({ holder: "b", ...x });
  expect([take(slots, "b", "x"), mine.isContended(60_000)]).toEqual(["group 3", true]);
  expect(neighbor.isContended(60_000)).toBe(false);
  const stranger = slots.take({ holder: "c", group: "y" });
  expect([take(slots, "c", "y"), neighbor.isContended(60_000)]).toEqual(["all 4", true]);
  expect(stranger.isContended(60_000)).toBe(false);
  expect(mine.isContended(-1)).toBe(false);
});
