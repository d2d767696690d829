import { expect, test } from "bun:test";
import { TaskThread, ThreadRefusal } from "../../../api/documents/thread.ts";

const MANY = { maxWaiting: 10 };

function openThread(timeLimitMs = 20_000) {
  const thread = new TaskThread({
    entry: new URL("../../helpers/endless_thread.ts", import.meta.url),
    timeLimitMs,
  });
  return {
    run: (message: string, options = MANY) => thread.run(message, options),
    close: () => thread.close(),
    [Symbol.asyncDispose]: () => thread.close(),
  };
}

function refusalOf(run: Promise<string>): Promise<string> {
  return run.then(
    (text) => `answered ${text}`,
    (error) => (error instanceof ThreadRefusal ? error.reason : String(error)),
  );
}

test("a thread answers one after the other, in order", async () => {
  await using thread = openThread();
  const order: string[] = [];
  const texts = await Promise.all(
    ["a", "b", "c"].map(async (message) => {
      const text = await thread.run(message);
      order.push(text);
      return text;
    }),
  );
  expect([texts, order]).toEqual([
    ["a", "b", "c"],
    ["a", "b", "c"],
  ]);
});

test("what the thread throws is told, and the next task has its answer", async () => {
  await using thread = openThread();
  expect(await refusalOf(thread.run("fail"))).toContain("told to fail");
  for (const message of ["throw", "end"]) {
    const [failed, next] = await Promise.all([refusalOf(thread.run(message)), refusalOf(thread.run("a"))]);
    expect([message, failed]).toEqual([message, expect.stringContaining("Cannot do the task")]);
    expect([message, next]).toEqual([message, "answered a"]);
  }
});

test("a task that does not end is given up, and those after it are done", async () => {
  await using thread = openThread(2_000);
  expect(await thread.run("warm")).toBe("warm");
  const [endless, next] = await Promise.all([refusalOf(thread.run("loop")), refusalOf(thread.run("a"))]);
  expect([endless, next]).toEqual(["too_long", "answered a"]);
});

test("more than may wait are refused at once, each by its own bound", async () => {
  await using thread = openThread();
  const running = refusalOf(thread.run("loop"));
  const waiting = [refusalOf(thread.run("a")), refusalOf(thread.run("b"))];
  expect(await refusalOf(thread.run("c", { maxWaiting: 2 }))).toBe("full");
  const third = refusalOf(thread.run("c", { maxWaiting: 3 }));
  await thread.close();
  expect(await Promise.all([running, ...waiting, third])).toEqual(["closed", "closed", "closed", "closed"]);
  expect(await refusalOf(thread.run("d"))).toBe("closed");
});
