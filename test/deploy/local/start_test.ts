/** `bun run start`: first and later starts, with real processes and real signals. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseFreePort, commandLineOf } from "../../../deploy/local/machine.ts";
import { openPool } from "../../../sql/connection/pool.ts";
import {
  copyDataDirectory,
  type DataDirectory,
  listProcesses,
  makeDataDirectory,
  type StackProcess,
  startStack,
} from "../../helpers/process/stack.ts";
import { waitFor } from "../../helpers/wait_for.ts";

/** The data directory of a stack that was started once and stopped. Tests work on copies of it. */
let firstBoot: DataDirectory;
/** The output, catalog response, process count and exit code of the first start. */
let first: { output: string; models: unknown; processes: number; exitCode: number };

beforeAll(async () => {
  firstBoot = makeDataDirectory();
  await using stack = await startStack(firstBoot.path, { CATALOG_SOURCE: "http://127.0.0.1:1/api.json" });
  await stack.ready();
  const response = await fetch(`http://127.0.0.1:${stack.port}/api/v1/models?limit=1`);
  const models = await response.json();
  const processes = listProcesses(firstBoot.path).length;
  stack.kill("SIGTERM");
  first = { output: stack.stdout(), models, processes, exitCode: await stack.exited };
});

afterAll(() => firstBoot[Symbol.dispose]());

/** Runs a query on the embedded database, with the URL in a file that `bun run start` has written. */
async function queryEmbedded(
  directory: DataDirectory,
  text: string,
  file = "database-url.txt",
): Promise<unknown[]> {
  const url = readFileSync(join(directory.path, file), "utf8").trim();
  const pool = openPool(url, { applicationName: "stack test", max: 1 });
  try {
    return [...(await pool.unsafe(text))];
  } finally {
    await pool.end();
  }
}

function credentialsOf(directory: DataDirectory): string {
  return readFileSync(join(directory.path, "demo-credentials.txt"), "utf8");
}

async function expectNothingLeft(directory: DataDirectory): Promise<void> {
  const isGone = () => listProcesses(directory.path).length === 0;
  await waitFor(isGone);
  expect(listProcesses(directory.path).map((pid) => commandLineOf(pid))).toEqual([]);
}

async function expectStops(
  stack: StackProcess,
  signal: NodeJS.Signals,
  directory: DataDirectory,
): Promise<void> {
  expect(listProcesses(directory.path).length).toBeGreaterThan(2);
  stack.kill(signal);
  expect(await stack.exited).toBe(0);
  await expectNothingLeft(directory);
}

/** Returns the id of the stack's process whose command line contains `text`. */
function findProcess(directory: DataDirectory, text: string): number {
  const pid = listProcesses(directory.path).find((candidate) => commandLineOf(candidate)?.includes(text));
  if (pid === undefined) throw new Error(`Cannot find a process with ${text}`);
  return pid;
}

/** Returns whether a folder is named like a cluster that `initdb` did not finish. */
function isUnfinished(name: string): boolean {
  return name.startsWith("postgres-unfinished-");
}

test("the first start prints the URLs and credentials, and stores secrets in files that only the owner can read", async () => {
  expect(first.output).toMatch(/Dashboard +http:\/\/localhost:\d+\/dashboard/);
  expect(first.output).toMatch(/API +http:\/\/localhost:\d+\/api\/v1/);
  expect(first.output).toMatch(/Swagger UI +http:\/\/localhost:\d+\/swagger/);
  for (const line of credentialsOf(firstBoot).trim().split("\n")) expect(first.output).toContain(line.trim());
  for (const file of ["demo-credentials.txt", "database-url.txt", "database-owner-url.txt"]) {
    expect(statSync(join(firstBoot.path, file)).mode & 0o777).toBe(0o600);
  }
});

test("the model catalog is available from the first response", () => {
  expect(first.models).toMatchObject({ data: { total: 5276 } });
});

test("SIGTERM stops the stack and leaves no process running", async () => {
  expect(first.processes).toBeGreaterThan(2);
  expect(first.exitCode).toBe(0);
  await expectNothingLeft(firstBoot);
});

test("a later start keeps the data and credentials, connects as ulr_app, and stops on SIGINT", async () => {
  using directory = copyDataDirectory(firstBoot);
  const credentials = credentialsOf(directory);
  // The API gets the port that PostgreSQL used before and would use again.
  const { port } = new URL(readFileSync(join(directory.path, "database-url.txt"), "utf8").trim());
  await using stack = await startStack(directory.path, { PORT: port });
  await stack.ready();
  // The printed commands contain the port of this start.
  const own = credentials.replaceAll(/(?<=http:\/\/localhost:)\d+/g, String(stack.port));
  expect(own).not.toBe(credentials);
  for (const line of own.trim().split("\n")) expect(stack.stdout()).toContain(line.trim());
  expect(await queryEmbedded(directory, "select count(*) > 0 as found from issues")).toEqual([
    { found: true },
  ]);
  // On a busy machine, the database may briefly respond too late.
  await waitFor(async () => (await fetch(`http://127.0.0.1:${stack.port}/health/ready`)).ok);
  const sessions = `
    select distinct usename as role
    from pg_stat_activity
    where datname = 'ulr' and application_name like 'ulr-%' and backend_type = 'client backend'`;
  const isThere = async () => (await queryEmbedded(directory, sessions)).length > 0;
  await waitFor(isThere);
  expect(await queryEmbedded(directory, sessions)).toEqual([{ role: "ulr_app" }]);
  await expectStops(stack, "SIGINT", directory);
});

test("SIGINT during startup stops the stack", async () => {
  using directory = makeDataDirectory();
  await using stack = await startStack(directory.path);
  const isBooting = () => stack.stderr().includes("Starting PostgreSQL");
  await waitFor(isBooting);
  stack.kill("SIGINT");
  expect(await stack.exited).toBe(0);
  await expectNothingLeft(directory);
});

test("a start waits until a killed stack has released its port, and keeps the data", async () => {
  using directory = copyDataDirectory(firstBoot);
  const killed = await startStack(directory.path);
  await killed.ready();
  await queryEmbedded(directory, "create table kept as select 42 as answer", "database-owner-url.txt");
  const api = findProcess(directory, "api/main.ts");
  // A suspended API keeps its port, like an API that is finishing requests.
  process.kill(api, "SIGSTOP");
  killed.kill("SIGKILL");
  await killed.exited;
  // The next start begins immediately, on the same port.
  const next = await startStack(directory.path, { PORT: String(killed.port) });
  await waitFor(() => next.stderr().includes("Waiting for the port, which a killed start is leaving"));
  process.kill(api, "SIGCONT");
  await next.ready();
  expect(await queryEmbedded(directory, "select answer from kept")).toEqual([{ answer: 42 }]);
  // The second killed start has no suspended process.
  next.kill("SIGKILL");
  await next.exited;
  const last = await startStack(directory.path, { PORT: String(killed.port) });
  await last.ready();
  await expectOnlyPostgresOutlives(last, directory);
});

test("a start killed while creating the database does not block the next start", async () => {
  using directory = makeDataDirectory();
  const killed = await startStack(directory.path);
  await waitFor(() => existsSync(directory.path) && readdirSync(directory.path).some(isUnfinished));
  killed.kill("SIGKILL");
  await killed.exited;
  await using next = await startStack(directory.path);
  await waitFor(() => next.stderr().includes("Starting PostgreSQL: done"));
});

/** Kills a start. Checks that its processes exit by themselves and that PostgreSQL keeps running for the next start. */
async function expectOnlyPostgresOutlives(stack: StackProcess, directory: DataDirectory): Promise<void> {
  stack.kill("SIGKILL");
  await stack.exited;
  const commands = () => listProcesses(directory.path).map((pid) => commandLineOf(pid) ?? "");
  const haveEnded = () => commands().every((command) => !command.includes("main.ts"));
  await waitFor(haveEnded);
  expect(commands().some((command) => command.includes("bin/postgres -D"))).toBe(true);
}

/** Runs `command`, which launches a start, and waits until the service is ready. */
async function launch(
  directory: DataDirectory,
  command: string[],
  env: Readonly<Record<string, string>>,
): Promise<Bun.Subprocess<"pipe">> {
  const port = chooseFreePort("127.0.0.1");
  const { DATABASE_URL: _, ...inherited } = process.env;
  const launcher = Bun.spawn(command, {
    cwd: join(import.meta.dir, "../../.."),
    env: { ...inherited, CATALOG_SOURCE: "bundled", DATA_DIR: directory.path, PORT: String(port), ...env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (response) => response.ok,
      () => false,
    );
  await waitFor(isReady);
  return launcher;
}

test("the stack stops when its launcher, such as npx, is killed without forwarding the signal", async () => {
  using directory = copyDataDirectory(firstBoot);
  const command = ["/bin/sh", "-c", '"$0" deploy/local/main.ts & wait', process.execPath];
  const launcher = await launch(directory, command, { npm_lifecycle_event: "start" });
  launcher.kill("SIGKILL");
  const isGone = () => listProcesses(directory.path).length === 0;
  await waitFor(isGone);
});

test("a start ignores an unrelated process id in postmaster.pid, recreates database-url.txt, and stops on SIGHUP", async () => {
  using directory = copyDataDirectory(firstBoot);
  rmSync(join(directory.path, "database-url.txt"));
  const cluster = join(directory.path, "postgres");
  const { uid, gid } = statSync(cluster);
  const other = Bun.spawn(["sleep", "300"], { uid, gid });
  try {
    const lines = [other.pid, cluster, 1_700_000_000, 54_321, "", "127.0.0.1", "", "ready"];
    writeFileSync(join(cluster, "postmaster.pid"), `${lines.join("\n")}\n`);
    await using stack = await startStack(directory.path);
    await stack.ready();
    expect(other.exitCode).toBe(null);
    // The start has written the file again, with a new password.
    expect(await queryEmbedded(directory, "select 1 as one")).toEqual([{ one: 1 }]);
    await expectStops(stack, "SIGHUP", directory);
    expect(other.exitCode).toBe(null);
  } finally {
    other.kill("SIGKILL");
  }
});

/** Kills a process of the stack. Checks that the stack names the process and stops all others. */
async function expectCannotGoOn(
  stack: StackProcess,
  { directory, pid, because }: { directory: DataDirectory; pid: number; because: string },
): Promise<void> {
  process.kill(pid, "SIGKILL");
  expect(await stack.exited).toBe(1);
  expect(stack.stderr()).toContain(`Cannot go on: ${because}`);
  await expectNothingLeft(directory);
}

test("the stack exits with an error that names PostgreSQL and its log file if PostgreSQL exits", async () => {
  using directory = copyDataDirectory(firstBoot);
  await using stack = await startStack(directory.path);
  await stack.ready();
  const postgres = findProcess(directory, "bin/postgres -D");
  await expectCannotGoOn(stack, { directory, pid: postgres, because: "PostgreSQL ended unexpectedly" });
  expect(stack.stderr()).toContain(join(directory.path, "logs", "postgres.log"));
});

test("a second start on the same DATA_DIR is rejected, and the first stack runs until one of its processes exits", async () => {
  using directory = copyDataDirectory(firstBoot);
  await using stack = await startStack(directory.path);
  await stack.ready();
  const elsewhere = await startStack(directory.path);
  expect(await elsewhere.exited).toBe(1);
  expect(elsewhere.stderr()).toBe(
    `Cannot use ${directory.path}: another \`bun run start\` (process ${stack.pid}) is running there. ` +
      `Stop it with Ctrl-C in its terminal or with \`kill ${stack.pid}\`.\n`,
  );
  const samePort = await startStack(directory.path, { PORT: String(stack.port) });
  expect(await samePort.exited).toBe(1);
  expect(samePort.stderr()).toBe(elsewhere.stderr());
  expect((await fetch(`http://127.0.0.1:${stack.port}/health/ready`)).status).toBe(200);
  const api = findProcess(directory, "api/main.ts");
  await expectCannotGoOn(stack, {
    directory,
    pid: api,
    because: "api ended unexpectedly (ended by SIGKILL)",
  });
});
