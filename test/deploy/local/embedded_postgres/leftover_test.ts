/** Starting the embedded PostgreSQL in a directory whose server was killed or still runs. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../../deploy/local/embedded_postgres.ts";
import { commandLineOf, parentOf } from "../../../../deploy/local/machine.ts";
import { findPrograms } from "../../../../deploy/local/postgres_files.ts";
import { openSupervisor, type Supervisor } from "../../../../deploy/local/supervisor.ts";
import { openPool } from "../../../../sql/connection/pool.ts";
import { identifyProcess } from "../../../helpers/process/identity.ts";
import { makeDataDirectory } from "../../../helpers/process/stack.ts";
import { waitFor } from "../../../helpers/wait_for.ts";

function start(supervisor: Supervisor, dataDirectory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ supervisor, dataDirectory });
}

function openUnforcedSupervisor(): Supervisor {
  return openSupervisor({ force: new AbortController().signal });
}

/** Creates a zombie process of the account that owns `path`. Its parent never reaps it. */
async function makeZombie(path: string): Promise<{ pid: number; parent: Bun.Subprocess }> {
  const { uid, gid } = statSync(path);
  // The child exits when its stdin closes. By then, `exec` has replaced the shell, which would reap the child, with `sleep`.
  const parent = Bun.spawn(["/bin/sh", "-c", "exec 3<&0; cat <&3 & echo $!; exec sleep 300 3<&-"], {
    uid,
    gid,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { value } = await parent.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  await waitFor(() => commandLineOf(parent.pid)?.startsWith("sleep"));
  parent.stdin.end();
  await waitFor(() => identifyProcess(pid) === null);
  return { pid, parent };
}

test("startEmbeddedPostgres() starts even if a killed server's process id now belongs to a zombie", async () => {
  using directory = makeDataDirectory();
  await using supervisor = openUnforcedSupervisor();
  const killed = await start(supervisor, directory.path);
  process.kill(killed.pid, "SIGKILL");
  await waitFor(() => identifyProcess(killed.pid) === null);
  const path = realpathSync(join(directory.path, "postgres"));
  const zombie = await makeZombie(path);
  try {
    // PostgreSQL checks the process id with kill(2), which succeeds for a zombie.
    expect([parentOf(zombie.pid), commandLineOf(zombie.pid)]).toEqual([zombie.parent.pid, null]);
    const file = join(path, "postmaster.pid");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(zombie.pid)));
    const next = await start(supervisor, directory.path);
    expect(next.urls).toEqual(killed.urls);
  } finally {
    zombie.parent.kill("SIGKILL");
  }
});

test("startEmbeddedPostgres() replaces a server that is still running in the data directory", async () => {
  using directory = makeDataDirectory();
  await using first = openUnforcedSupervisor();
  const left = await start(first, directory.path);
  await using second = openUnforcedSupervisor();
  const next = await start(second, directory.path);
  expect(next.urls).toEqual(left.urls);
  expect(next.pid).not.toBe(left.pid);
  expect(identifyProcess(left.pid)).toBeNull();
});

test("startEmbeddedPostgres() starts even if the old server exits on its own just before being stopped", async () => {
  using directory = makeDataDirectory();
  await using first = openUnforcedSupervisor();
  const left = await start(first, directory.path);
  const path = realpathSync(join(directory.path, "postgres"));
  const { uid, gid } = statSync(path);
  const { bin } = await findPrograms({ uid, gid }, join(directory.path, "programs"));
  const binDirectory = mkdtempSync(join(tmpdir(), "ulr-bin-"));
  try {
    for (const program of ["initdb", "postgres"])
      symlinkSync(join(bin, program), join(binDirectory, program));
    const pidFile = `"${path}/postmaster.pid"`;
    const end = `kill -INT ${left.pid}; while [ -e ${pidFile} ]; do sleep 0.02; done`;
    writeFileSync(join(binDirectory, "pg_ctl"), `#!/bin/sh\n${end}\nexec "${join(bin, "pg_ctl")}" "$@"\n`);
    chmodSync(join(binDirectory, "pg_ctl"), 0o755);
    chmodSync(binDirectory, 0o755);
    await using second = openUnforcedSupervisor();
    const next = await startEmbeddedPostgres({
      supervisor: second,
      dataDirectory: directory.path,
      binDirectory,
    });
    expect(next.urls).toEqual(left.urls);
  } finally {
    rmSync(binDirectory, { recursive: true });
  }
});

/** Returns how many bytes this process has read so far. */
function countReadBytes(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

test("startEmbeddedPostgres() rotates a large log file without reading its content", async () => {
  using directory = makeDataDirectory();
  const logPath = join(directory.path, "logs", "postgres.log");
  const size = 512 * 1024 * 1024;
  mkdirSync(dirname(logPath), { recursive: true });
  writeFileSync(logPath, "");
  // A sparse file, without blocks on the disk.
  truncateSync(logPath, size);
  const before = countReadBytes();
  await using supervisor = openUnforcedSupervisor();
  await start(supervisor, directory.path);
  expect(countReadBytes() - before).toBeLessThan(size);
  expect(statSync(`${logPath}.1`).size).toBe(size);
  expect(readFileSync(logPath, "utf8")).toContain("ready to accept connections");
});

test("startEmbeddedPostgres() accepts a folder whose name contains shell metacharacters", async () => {
  using directory = makeDataDirectory();
  await using supervisor = openUnforcedSupervisor();
  const odd = join(directory.path, `it's "$HOME" \`x\``);
  await using server = await start(supervisor, odd);
  expect(realpathSync(join(odd, "postgres"))).toBe(realpathSync(odd).concat("/postgres"));
  expect(server.pid).toBeGreaterThan(0);
});

test("startEmbeddedPostgres() replaces a deleted cluster with a new cluster that has new passwords", async () => {
  using directory = makeDataDirectory();
  await using supervisor = openUnforcedSupervisor();
  const deleted = await start(supervisor, directory.path);
  await deleted.stop();
  rmSync(realpathSync(join(directory.path, "postgres")), { recursive: true });
  const next = await start(supervisor, directory.path);
  expect(next.urls.ulr_app).not.toBe(deleted.urls.ulr_app);
  const pool = openPool(next.urls.ulr_app, { applicationName: "embedded test", max: 1 });
  try {
    expect([...(await pool`select 1 as one`)]).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
  }
});
