import { expect, test } from "bun:test";
import { FairQueue, type FairQueueOptions, type Turn } from "../../../../api/http/limits/fair_queue.ts";

/** Opens a queue, with functions that add tasks, end them and advance the queue's clock. */
function openQueue(options: Partial<FairQueueOptions> = {}) {
  let now = 0;
  const queue = new FairQueue({ max: 1, maxPerCaller: 1, maxWaiting: 100, ...options, now: () => now });
  const running: { name: string; end: PromiseWithResolvers<void> }[] = [];
  const began: string[] = [];
  return {
    began,
    /** Adds a task. Resolves to the name of the task that ran, or to the reason for the refusal. */
    add: async (name: string, caller: string, turn: Partial<Turn> = {}): Promise<string> => {
      const work = async () => {
        const end = Promise.withResolvers<void>();
        running.push({ name, end });
        began.push(name);
        await end.promise;
        return name;
      };
      return queue
        .run({ caller, refuse: (reason) => new Error(reason), ...turn }, work)
        .catch((error: Error) => error.message);
    },
    /** Advances the clock and ends the oldest running task. Returns the task's name, or null if no task is running. */
    work: async (ms = 1) => {
      now += ms;
      const task = running.shift();
      task?.end.resolve();
      // The queue starts the next task only after the promise of the ended task has settled.
      await new Promise((resolve) => setImmediate(resolve));
      return task?.name ?? null;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("free places go to the callers in turn, however many tasks a caller has", async () => {
  const queue = openQueue({ maxWaiting: 3 });
  const all = ["a1", "a2", "a3", "a4", "b1", "c1"].map((name) => queue.add(name, name.charAt(0)));
  expect(await queue.add("a5", "a")).toBe("caller");
  for (const _ of all) await queue.work();
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "c1"]);
  expect(queue.began).toEqual(["a1", "a2", "b1", "c1", "a3", "a4"]);
});

test("a caller runs at most maxPerCaller tasks at once and leaves the remaining places free", async () => {
  const queue = openQueue({ max: 3, maxPerCaller: 2 });
  for (const name of ["a1", "a2", "a3", "b1", "b2"]) void queue.add(name, name.charAt(0));
  expect(queue.began).toEqual(["a1", "a2", "b1"]);
  await queue.work();
  expect(queue.began).toEqual(["a1", "a2", "b1", "a3"]);
  await queue.work();
  expect(queue.began).toEqual(["a1", "a2", "b1", "a3", "b2"]);
});

test("a waiting task whose request has ended makes room for its caller's next task", async () => {
  const queue = openQueue({ maxWaiting: 1 });
  const first = queue.add("first", "a");
  let isOver = false;
  const left = queue.add("left", "a", { isOver: () => isOver });
  expect(await queue.add("early", "a")).toBe("caller");
  isOver = true;
  const next = queue.add("next", "a");
  expect(await left).toBe("over");
  await queue.work();
  await queue.work();
  expect(await Promise.all([first, next])).toEqual(["first", "next"]);
  expect(queue.began).toEqual(["first", "next"]);
});

test("a task whose request ends before its turn is skipped and does not use up its caller's turn", async () => {
  const queue = openQueue();
  void queue.add("first", "a");
  const left = queue.add("left", "b", { isOver: () => true });
  for (const name of ["b1", "c1"]) void queue.add(name, name.charAt(0));
  for (let n = 0; n < 3; n += 1) await queue.work();
  expect(await left).toBe("over");
  expect(queue.began).toEqual(["first", "b1", "c1"]);
});

test("a failed task frees its place", async () => {
  const queue = new FairQueue({ max: 1, maxPerCaller: 1, maxWaiting: 1 });
  const turn = { caller: "a", refuse: () => new Error("refused") };
  const failing = queue.run(turn, () => Promise.reject(new Error("broke")));
  const next = queue.run(turn, async () => "went on");
  await expect(failing).rejects.toThrow("broke");
  expect(await next).toBe("went on");
});

test("priority tasks run first, in order of arrival", async () => {
  const queue = openQueue();
  for (const name of ["a1", "b1"]) void queue.add(name, name.charAt(0));
  for (const name of ["first 1", "first 2"]) void queue.add(name, "known", { isFirst: true });
  for (let n = 0; n < 4; n += 1) await queue.work();
  expect(queue.began).toEqual(["a1", "first 1", "first 2", "b1"]);
});

test("a task is refused if too many tasks of all callers are ahead of it", async () => {
  const queue = openQueue();
  for (const name of ["a1", "b1", "c1"]) void queue.add(name, name);
  expect(await queue.add("d1", "d", { maxWaitingInAll: 2 })).toBe("all");
  void queue.add("e1", "e", { maxWaitingInAll: 3 });
  for (let n = 0; n < 4; n += 1) await queue.work();
  expect(queue.began).toEqual(["a1", "b1", "c1", "e1"]);
});

test("tasks with the same key run once, and a caller that joins a task counts as waiting", async () => {
  const queue = openQueue({ maxWaiting: 1 });
  const shared = [queue.add("a1", "a", { key: "1" }), queue.add("b1", "b", { key: "1" })];
  const later = [queue.add("a2", "a", { key: "2" }), queue.add("b2", "b", { key: "2" })];
  expect(await queue.add("b3", "b", { key: "3" })).toBe("caller");
  // Joining a task that the caller already waits for does not count toward the caller's limit again.
  later.push(queue.add("b4", "b", { key: "2", maxWaitingInAll: 1 }));
  for (let n = 0; n < 2; n += 1) await queue.work();
  expect(await Promise.all([...shared, ...later])).toEqual(["a1", "a1", "a2", "a2", "a2"]);
  expect(queue.began).toEqual(["a1", "a2"]);
});

test("turns depend on the time that tasks have used, not on their number", async () => {
  const queue = openQueue({ isByTime: true });
  for (const name of ["slow 1", "slow 2"]) void queue.add(name, "slow");
  for (const n of [1, 2, 3]) void queue.add(`quick ${n}`, "quick");
  const order: (string | null)[] = [];
  for (const ms of [1_000, 100, 100, 100, 1_000, 1]) order.push(await queue.work(ms));
  expect(order).toEqual(["slow 1", "quick 1", "quick 2", "quick 3", "slow 2", null]);
});

test("a new caller is next, however many tasks wait, and callers with equal use run in order of arrival", async () => {
  const queue = openQueue({ isByTime: true });
  for (const name of ["a1", "a2", "b1"]) void queue.add(name, name.charAt(0));
  expect(await queue.work(50)).toBe("a1");
  for (const name of ["b2", "c1"]) void queue.add(name, name.charAt(0));
  for (let n = 0; n < 4; n += 1) await queue.work(50);
  expect(queue.began).toEqual(["a1", "b1", "c1", "a2", "b2"]);
});

test("new callers cannot starve a waiting caller", async () => {
  const queue = openQueue({ isByTime: true });
  void queue.add("a1", "a");
  void queue.add("new 0", "network 0");
  await queue.work(100);
  void queue.add("a2", "a");
  for (let n = 1; n <= 12; n += 1) {
    queue.pass(100);
    void queue.add(`new ${n}`, `network ${n}`);
    await queue.work(0);
  }
  // a2 runs after a1 and ten newcomers.
  expect(queue.began.indexOf("a2")).toBe(11);
});

test("recent use counts more than older use", async () => {
  const queue = openQueue({ isByTime: true });
  void queue.add("a1", "a");
  await queue.work(1_000);
  queue.pass(60_000);
  void queue.add("b1", "b");
  void queue.add("b2", "b");
  void queue.add("a2", "a");
  for (let n = 0; n < 3; n += 1) await queue.work(100);
  expect(queue.began).toEqual(["a1", "b1", "a2", "b2"]);
});

test("callers that share a task split its time", async () => {
  const queue = openQueue({ isByTime: true });
  for (const caller of ["a", "b"]) void queue.add("both", caller, { key: "both" });
  void queue.add("c1", "c");
  await queue.work(100);
  for (const name of ["c2", "a2"]) void queue.add(name, name.charAt(0));
  for (const ms of [80, 1, 1]) await queue.work(ms);
  expect(queue.began).toEqual(["both", "c1", "a2", "c2"]);
});
