import { expect, test } from "bun:test";
import { shareFor } from "../../../../shared/monitoring/measured_gauge.ts";

/** Creates a shared task that the test completes, with a clock that the test advances. */
function createTask() {
  let time = 0;
  const made: PromiseWithResolvers<number>[] = [];
  const make = () => {
    const next = Promise.withResolvers<number>();
    made.push(next);
    return next.promise;
  };
  return {
    made,
    ask: shareFor(1000, make, () => time),
    turn: (ms: number) => {
      time += ms;
    },
  };
}

test("shareFor() shares a pending result among calls, and reuses the result for the given time", async () => {
  const { made, ask, turn } = createTask();
  const asked = [ask(), ask()];
  turn(5000);
  asked.push(ask());
  made[0]?.resolve(1);
  expect(await Promise.all(asked)).toEqual([1, 1, 1]);
  turn(999);
  expect(await ask()).toBe(1);
  turn(1);
  const later = ask();
  made[1]?.resolve(2);
  expect([await later, made.length]).toEqual([2, 2]);
});

test("shareFor() reuses a failure for as long as a success", async () => {
  const { made, ask, turn } = createTask();
  const failing = ask();
  made[0]?.reject(new Error("away"));
  for (const asked of [failing, ask()]) expect(await asked.catch(String)).toBe("Error: away");
  turn(1000);
  const later = ask();
  made[1]?.resolve(2);
  expect(await later).toBe(2);
});

test("shareFor() replaces a result that is pending for 30 seconds, and does not reuse the late result", async () => {
  const { made, ask, turn } = createTask();
  const lost = ask();
  turn(30_000);
  const next = ask();
  made[1]?.resolve(2);
  expect(await next).toBe(2);
  turn(900);
  made[0]?.resolve(1);
  await lost;
  turn(100);
  void ask();
  expect(made.length).toBe(3);
});
