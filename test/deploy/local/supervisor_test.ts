/** Stopping child processes: newest first, and with SIGKILL if SIGTERM does not end them. */
import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, openSupervisor, type Supervisor } from "../../../deploy/local/supervisor.ts";
import { identifyProcess } from "../../helpers/process/identity.ts";
import { waitFor } from "../../helpers/wait_for.ts";

const NEVER = new AbortController().signal;

/** Starts a shell that runs `onTerm` on SIGTERM and writes its output to `lines`. Returns once the trap is set. */
async function spawnShell(
  supervisor: Supervisor,
  onTerm: string,
  lines: string[],
  graceMs = 10_000,
): Promise<Child> {
  const seen = lines.length;
  const child = await supervisor.spawn({
    name: "shell",
    command: "/bin/sh",
    args: ["-c", `trap '${onTerm}' TERM; echo set; while :; do sleep 0.02; done`],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    graceMs,
    output: (line) => lines.push(line),
  });
  await waitFor(() => lines.length > seen);
  return child;
}

test("stop() waits for a child that exits on SIGTERM, and outputs the child's last lines", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const lines: string[] = [];
  const child = await spawnShell(supervisor, "echo bye; exit 3", lines);
  await child.stop();
  expect(await child.exited).toEqual({ code: 3, signal: null });
  expect(lines).toEqual(["set", "bye"]);
  await child.stop();
});

test("stop() waits for output that arrives after the child has exited", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const lines: string[] = [];
  const child = await spawnShell(supervisor, "(sleep 0.05; echo late) & exit 0", lines);
  await child.stop();
  expect(lines).toEqual(["set", "late"]);
});

test("output is split into lines only at LF", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const lines: string[] = [];
  const child = await supervisor.spawn({
    name: "printf",
    command: "/usr/bin/printf",
    args: ["a\u2028b\\rc\\n\\nd"],
    cwd: "/",
    env: {},
    output: (line) => lines.push(line),
  });
  await child.exited;
  expect(lines).toEqual(["a\u2028b\rc", "", "d"]);
});

test("stop() kills a child that does not exit in time", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const child = await spawnShell(supervisor, "echo no", [], 50);
  await child.stop();
  expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("stop() kills the child as soon as the force signal is aborted", async () => {
  const force = new AbortController();
  await using supervisor = openSupervisor({ force: force.signal });
  const lines: string[] = [];
  const child = await spawnShell(supervisor, "echo no", lines, 600_000);
  const stopped = child.stop();
  await waitFor(() => lines.includes("no"));
  force.abort();
  await stopped;
  expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("a disposed supervisor stops its children, newest first, and starts no new children", async () => {
  const lines: string[] = [];
  const supervisor = openSupervisor({ force: NEVER });
  await spawnShell(supervisor, "echo older; exit 0", lines);
  await spawnShell(supervisor, "echo newer; exit 0", lines);
  await supervisor[Symbol.asyncDispose]();
  expect(lines).toEqual(["set", "set", "newer", "older"]);
  const late = { name: "late", command: "/bin/true", args: [], cwd: "/", env: {}, output: () => {} };
  await expect(supervisor.spawn(late)).rejects.toThrow("Cannot run late: everything is being stopped");
});

test("the error for a missing program names the program", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const absent = {
    name: "absent",
    command: "/nowhere/absent",
    args: [],
    cwd: "/",
    env: {},
    output: () => {},
  };
  await expect(supervisor.spawn(absent)).rejects.toThrow("Cannot run absent: ");
});

test("the error for a log that cannot be opened names the program", async () => {
  await using supervisor = openSupervisor({ force: NEVER });
  const program = { name: "loud", command: "/bin/true", args: [], cwd: "/", env: {} };
  const spawned = supervisor.spawn({ ...program, output: { logPath: "/dev/null/loud.log" } });
  await expect(spawned).rejects.toThrow(/^Cannot run loud: .*\/dev\/null/);
});

test("a child with STOP_ON_STDIN_END stops when its parent is killed, and logs its last lines", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ulr-supervisor-"));
  const at = (path: string) => JSON.stringify(new URL(`../../../${path}`, import.meta.url).pathname);
  const child = `
    import { onStdinEnd } from ${at("shared/process/stdin_end.ts")};
    onStdinEnd(process, () => {
      console.log("stopped");
      process.exit(0);
    });
    setInterval(() => {}, 1000);
    console.log(process.pid);`;
  const script = `
    import { openSupervisor } from ${at("deploy/local/supervisor.ts")};
    const supervisor = openSupervisor({ force: new AbortController().signal });
    for (const name of ["one", "two"]) {
      await supervisor.spawn({
        name,
        command: process.execPath,
        args: ["-e", ${JSON.stringify(child)}],
        cwd: "/",
        env: { ...process.env, STOP_ON_STDIN_END: "true" },
        output: { logPath: ${JSON.stringify(folder)} + "/" + name },
      });
    }`;
  const readLogs = async () => {
    const texts = ["one", "two"].map((name) => readFile(join(folder, name), "utf8").catch(() => ""));
    return (await Promise.all(texts)).map((text) => text.trim().split("\n"));
  };
  const parent = Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "inherit", "inherit"] });
  try {
    await waitFor(async () => (await readLogs()).every(([pid]) => pid));
    const pids = (await readLogs()).map(([pid]) => Number(pid));
    const alive = () => pids.filter((pid) => identifyProcess(pid) !== null);
    expect(alive()).toEqual(pids);
    parent.kill("SIGKILL");
    await waitFor(() => alive().length === 0);
    expect(await readLogs()).toEqual(pids.map((pid) => [String(pid), "stopped"]));
  } finally {
    parent.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
});
