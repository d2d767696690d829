import { expect, test } from "bun:test";
import { yieldEventLoop } from "../../../api/http/yield_event_loop.ts";

test("each waiter continues in a separate turn of the event loop, in order", async () => {
  const events: string[] = [];
  const work = async (name: string) => {
    for (const step of [1, 2]) {
      await yieldEventLoop();
      events.push(`${name}${step}`);
    }
  };
  let turns = 0;
  const perTurn = new Map<number, number>();
  let isOver = false;
  const count = () => {
    perTurn.set(turns, events.length);
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(["a", "b", "c"].map(work));
  isOver = true;
  expect(events).toEqual(["a1", "b1", "c1", "a2", "b2", "c2"]);
  const steps = [...perTurn.values()].map((total, turn) => total - (perTurn.get(turn - 1) ?? 0));
  expect(Math.max(...steps)).toBe(1);
});
