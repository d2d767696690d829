import { expect, test } from "bun:test";
import { TaskThread } from "../../../api/documents/task_thread.ts";
import { ApiError } from "../../../shared/errors.ts";

function openThread(timeLimitMs = 20_000) {
  const thread = new TaskThread({
    entry: new URL("../../helpers/definitions/endless_thread.ts", import.meta.url),
    timeLimitMs,
  });
  let asked = 0;
  return {
    /** Runs a task. By default, each task has a different key and caller. */
    run: (message: string, given: { caller?: string; key?: string; maxWaiting?: number } = {}) => {
      asked += 1;
      return thread.run({
        key: `key ${asked}`,
        message,
        caller: `caller ${asked}`,
        maxWaiting: 100,
        ...given,
      });
    },
    close: () => thread.close(),
    [Symbol.asyncDispose]: () => thread.close(),
  };
}

/** Returns the outcome of a task: its text, or the error code and the reason in the message. */
function errorOf(run: Promise<string>): Promise<string> {
  return run.then(
    (text) => `answered ${text}`,
    (error) => {
      if (!(error instanceof ApiError)) return String(error);
      return `${error.code}: ${/of your|too long|too many|shutting down/.exec(error.message)?.[0]}`;
    },
  );
}

const CLOSED = "SERVICE_UNAVAILABLE: shutting down";

test("a thread runs tasks one at a time, in order", async () => {
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

test("an error in the thread is returned to its caller, and the next task runs", async () => {
  await using thread = openThread();
  expect(await errorOf(thread.run("fail"))).toContain("told to fail");
  for (const message of ["throw", "end"]) {
    const [failed, next] = await Promise.all([errorOf(thread.run(message)), errorOf(thread.run("a"))]);
    expect([message, failed]).toEqual([message, expect.stringContaining("Cannot do the task")]);
    expect([message, next]).toEqual([message, "answered a"]);
  }
});

test("a task that does not end is aborted, and later tasks run", async () => {
  await using thread = openThread(2_000);
  expect(await thread.run("warm")).toBe("warm");
  const [endless, next] = await Promise.all([errorOf(thread.run("loop")), errorOf(thread.run("a"))]);
  expect([endless, next]).toEqual(["SERVICE_UNAVAILABLE: too long", "answered a"]);
});

test("tasks over a limit are rejected immediately", async () => {
  await using thread = openThread();
  const running = errorOf(thread.run("loop"));
  const waiting = [errorOf(thread.run("a")), errorOf(thread.run("b"))];
  expect(await errorOf(thread.run("c", { maxWaiting: 2 }))).toBe("SERVICE_UNAVAILABLE: too many");
  const third = errorOf(thread.run("c", { maxWaiting: 3 }));
  await thread.close();
  expect(await Promise.all([running, ...waiting, third])).toEqual([CLOSED, CLOSED, CLOSED, CLOSED]);
  expect(await errorOf(thread.run("d"))).toBe(CLOSED);
});

test("a busy caller has at most two waiting tasks, and another caller's task runs next", async () => {
  await using thread = openThread();
  const order: string[] = [];
  const ask = (caller: string, message: string, key = message) =>
    errorOf(thread.run(message, { caller, key })).then((outcome) => order.push(`${caller}: ${outcome}`));
  // The hostile caller keeps adding tasks, whether the earlier ones succeed or fail.
  let hostile = Array.from({ length: 20 }, (_, n) => ask("hostile", `first ${n}`));
  await hostile[5];
  for (let round = 0; round < 10; round += 1) {
    hostile = [...hostile, ...Array.from({ length: 5 }, (_, n) => ask("hostile", `round ${round}, ${n}`))];
    const before = order.length;
    await ask("honest", `round ${round}`);
    const since = order.slice(before).filter((outcome) => outcome.includes("answered"));
    expect(since.indexOf(`honest: answered round ${round}`)).toBeOneOf([0, 1]);
  }
  await Promise.all(hostile);
  const refused = order.filter((outcome) => outcome === "hostile: RATE_LIMITED: of your").length;
  const answered = order.filter((outcome) => outcome.startsWith("hostile: answered")).length;
  expect([
    refused + answered,
    refused > answered,
    order.filter((o) => o === "honest: RATE_LIMITED: of your"),
  ]).toEqual([70, true, []]);
});

test("a caller can join another caller's waiting task, which then runs earlier", async () => {
  await using thread = openThread();
  const order: string[] = [];
  const ask = async (caller: string, message: string) => {
    order.push(`${caller} ${await errorOf(thread.run(message, { caller, key: message }))}`);
  };
  await Promise.all([ask("heavy", "a"), ask("heavy", "b"), ask("heavy", "c")]);
  order.length = 0;
  await Promise.all([
    ask("heavy", "now"),
    ask("heavy", "early"),
    ask("heavy", "late"),
    ask("light", "late"),
    ask("heavy", "late"),
  ]);
  expect(order).toEqual([
    "heavy answered now",
    "heavy answered late",
    "light answered late",
    "heavy answered late",
    "heavy answered early",
  ]);
});
