import { expect, test } from "bun:test";
import { TaskQueue } from "../../../api/documents/task_queue.ts";

function openQueue() {
  const queue = new TaskQueue<{ caller: string }>();
  let now = 0;
  return {
    add: (key: string, ...callers: string[]) =>
      queue.add({ key, message: key, waiters: callers.map((caller) => ({ caller })), since: now }),
    /** Does the next task, which takes so long. */
    work: (ms: number) => {
      const task = queue.take(now);
      if (!task) return null;
      now += ms;
      queue.charge(task, { ms, now });
      return task.key;
    },
    pass: (ms: number) => {
      now += ms;
    },
    count: (caller: string) => queue.count(caller),
  };
}

test("turns go round by the time that was used, not by the number of tasks", () => {
  const queue = openQueue();
  queue.add("slow 1", "slow");
  queue.add("slow 2", "slow");
  for (const n of [1, 2, 3]) queue.add(`quick ${n}`, "quick");
  expect(queue.count("quick")).toBe(3);
  const order = [queue.work(1_000), ...[100, 100, 100, 1_000].map((ms) => queue.work(ms)), queue.work(1)];
  expect(order).toEqual(["slow 1", "quick 1", "quick 2", "quick 3", "slow 2", null]);
});

test("a newcomer is next, whatever others have waiting; equals go in the order in which they came", () => {
  const queue = openQueue();
  for (const key of ["a1", "a2", "b1"]) queue.add(key, key.charAt(0));
  expect(queue.work(50)).toBe("a1");
  expect(queue.work(50)).toBe("b1");
  queue.add("b2", "b");
  queue.add("c1", "c");
  expect([queue.work(50), queue.work(50), queue.work(50)]).toEqual(["c1", "a2", "b2"]);
});

test("new callers cannot starve a waiting one", () => {
  const queue = openQueue();
  queue.add("a1", "a");
  queue.work(100);
  queue.add("a2", "a");
  const order: (string | null)[] = [];
  for (let n = 1; n <= 12; n += 1) {
    queue.add(`new ${n}`, `network ${n}`);
    order.push(queue.work(100));
  }
  expect(order.indexOf("a2")).toBe(10);
});

test("older use counts for less", () => {
  const queue = openQueue();
  queue.add("a1", "a");
  queue.work(1_000);
  queue.pass(60_000);
  queue.add("b1", "b");
  queue.work(100);
  queue.add("b2", "b");
  queue.add("a2", "a");
  expect([queue.work(1), queue.work(1)]).toEqual(["a2", "b2"]);
});

test("waiters of one task share its time", () => {
  const queue = openQueue();
  queue.add("both", "a", "b");
  queue.work(100);
  queue.add("c", "c");
  queue.work(80);
  queue.add("c2", "c");
  queue.add("a2", "a");
  expect([queue.work(1), queue.work(1)]).toEqual(["a2", "c2"]);
});
