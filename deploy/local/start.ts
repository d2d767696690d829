/** `bun run start`: database, migrations, demo data, processes, then waits. */
import { Database as LockFile } from "bun:sqlite";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { httpFetch } from "../../shared/network/http_fetch.ts";
import { type Config, readConfig } from "../../shared/process/config.ts";
import { STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { describeUnknownVariables } from "../../shared/process/unknown_variables.ts";
import type { Command } from "./bootstrap.ts";
import { databaseUrlPath, OWNER_ROLE, RUNTIME_ROLE, startEmbeddedPostgres } from "./embedded_postgres.ts";
import { chooseFreePort, findListenProblem, readText } from "./machine.ts";
import {
  type Child,
  describeExit,
  openSupervisor,
  pollUntil,
  type Supervisor,
  settlesWithin,
  untilAborted,
} from "./supervisor.ts";
import { elapsed, renderBanner, StartError } from "./terminal.ts";

/** The folders of the processes, which have a `main.ts`. Their places decide their METRICS_PORT. */
const SERVICE_PROCESSES = ["api", "jobs", "catalog-sync"] as const;
/** The API of a killed start closes its port when its stdin ends, or at the latest when its requests are cut off. */
const ABANDONED_PORT_MS = 30_000;
const READY_TIMEOUT_MS = 30_000;
const PROBE_MS = 1000;
/** Placeholder for the URL of the embedded database; nothing connects to it. */
const EMBEDDED = "postgres://embedded";

interface StackSettings extends Omit<Config, "databaseUrl"> {
  /** Absolute. */
  dataDirectory: string;
  /** Null: start the embedded PostgreSQL. */
  databaseUrl: string | null;
}

interface Stack extends Command {
  settings: StackSettings;
  supervisor: Supervisor;
  /** True if the last start on this data directory was killed. */
  wasAbandoned: boolean;
}

/** Reads the settings; the error has a line for every problem. Port 0 becomes a free one. */
export function readStackSettings(root: string, env: NodeJS.ProcessEnv): StackSettings {
  const isEmbedded = !env["DATABASE_URL"]?.trim() && !env["DATABASE_URL_FILE"]?.trim();
  const given = isEmbedded ? { ...env, DATABASE_URL: EMBEDDED } : env;
  let result = readConfig(given);
  if (result.ok && result.config.port === 0) {
    result = readConfig({ ...given, PORT: String(chooseFreePort(result.config.host)) });
  }
  if (!result.ok) throw new StartError(result.problems.join("\n"));
  const { config } = result;
  if (isEmbedded && config.databaseDirectUrl !== EMBEDDED) {
    throw new StartError("DATABASE_DIRECT_URL: must not be set without DATABASE_URL");
  }
  const dataDirectory = resolve(root, config.dataDir);
  return { ...config, dataDirectory, databaseUrl: isEmbedded ? null : config.databaseUrl };
}

function credentialsPath(settings: StackSettings): string {
  return join(settings.dataDirectory, "demo-credentials.txt");
}

/** Throws StartError if the port is in use; waits if the API of a killed start is about to close it. */
async function requireFreePort({ settings, progress, wasAbandoned }: Stack): Promise<void> {
  const findProblem = () => findListenProblem(settings.host, settings.port);
  if (wasAbandoned && findProblem() !== null) {
    await progress.step("Waiting for the port, which a killed start is leaving", () =>
      pollUntil(() => findProblem() === null, { timeoutMs: ABANDONED_PORT_MS, intervalMs: 50 }),
    );
  }
  const problem = findProblem();
  if (problem) throw new StartError(`${problem}. Set HOST or PORT to listen elsewhere.`);
}

/** Starts the embedded database, or uses the one of DATABASE_URL, whose only role also migrates. */
async function openDatabase({ settings, supervisor, progress }: Stack) {
  const { dataDirectory, databaseUrl: url } = settings;
  if (url !== null) return { url, ownerUrl: url, server: null };
  const server = await progress.step("Starting PostgreSQL", () =>
    startEmbeddedPostgres({ supervisor, dataDirectory }),
  );
  return { url: server.urls[RUNTIME_ROLE], ownerUrl: server.urls[OWNER_ROLE], server };
}

/** Migrates the database as its owner, and fills an empty one with a first model catalog and demo data. */
async function prepareDatabase(stack: Stack, env: NodeJS.ProcessEnv): Promise<void> {
  const { supervisor, root, progress, settings } = stack;
  const admin = "api/admin/main.ts";
  const seed = [admin, "demo", "seed", "--if-empty", "--credentials-file", credentialsPath(settings)];
  const run = async (note: (text: string) => void, purpose: string, args: readonly string[]) => {
    const child = await supervisor.spawn({
      ...{ name: purpose, command: process.execPath, args, cwd: root, env },
      // Our commands print progress on stderr.
      output: (line, stream) => void (stream === "stderr" && note(line)),
    });
    const exit = await child.exited;
    if (exit.code === 0) return;
    throw new StartError(`Cannot ${purpose}: ${child.lastLines.slice(-3).join("\n") || describeExit(exit)}`);
  };
  await progress.step("Applying migrations", (note) => run(note, "apply the migrations", [admin, "migrate"]));
  // Neither waits for the other, and a machine has two processors.
  await progress.step("Loading the model catalog and demo data", (note) =>
    Promise.all([
      run(note, "load the model catalog", ["catalog-sync/main.ts", "--if-empty"]),
      run(note, "load the demo data", seed),
    ]),
  );
}

/** True when the API responds. Nothing can connect to 0.0.0.0 or ::, so loopback takes their place. */
async function isReady({ host, port }: StackSettings): Promise<boolean> {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const url = `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}/health/ready`;
  try {
    const response = await httpFetch(url, { headersMs: PROBE_MS, idleMs: PROBE_MS });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** On a terminal, logs go to files; a pipe gets them, as `docker logs` and systemd expect. */
function launchAll({ settings, supervisor, root, stdout }: Stack, env: NodeJS.ProcessEnv): Promise<Child[]> {
  const { dataDirectory, metricsPort } = settings;
  const launches = SERVICE_PROCESSES.map((name, index) =>
    supervisor.spawn({
      ...{ name, command: process.execPath, args: [`${name}/main.ts`], cwd: root },
      // Port 0 stays 0: each process takes a free one.
      env: metricsPort ? { ...env, METRICS_PORT: String(metricsPort + index) } : env,
      output: stdout.isTTY ? { logPath: join(dataDirectory, "logs", `${name}.log`) } : "inherit",
    }),
  );
  return Promise.all(launches);
}

function announce({ settings, root, stdout }: Stack): void {
  const { publicUrl, dataDirectory, databaseUrl } = settings;
  const shown = (path: string) => (path.startsWith(root) ? relative(root, path) : path);
  const path = credentialsPath(settings);
  const credentials = readText(path);
  const facts = {
    Dashboard: `${publicUrl}/dashboard`,
    API: `${publicUrl}/api/v1`,
    "Swagger UI": `${publicUrl}/swagger`,
    Database: databaseUrl ? null : `embedded; its URL is in ${shown(databaseUrlPath(dataDirectory))}`,
    Credentials: credentials === null ? null : shown(path),
    Logs: stdout.isTTY ? `${shown(join(dataDirectory, "logs"))}/` : null,
  };
  stdout.write(renderBanner(elapsed(0), facts, credentials));
}

/** Waits until something exits, and throws: PostgreSQL is named if it has exited, because then processes exit too. */
async function failWhenOneEnds(services: readonly Child[], server: Child | null): Promise<never> {
  const children = server ? [server, ...services] : services;
  const first = await Promise.race(children.map((child) => child.exited.then(() => child)));
  // Processes may notice first.
  const isServerGone = server !== null && (await settlesWithin(server.exited, 1000));
  const { name, exited, logPath } = isServerGone ? server : first;
  const hint = logPath === null ? "" : `; ${logPath} says why`;
  throw new StartError(`Cannot go on: ${name} ended unexpectedly (${describeExit(await exited)})${hint}`);
}

/** Starts everything, then waits; throws if something exits unexpectedly. */
async function bringUp(stack: Stack): Promise<void> {
  await requireFreePort(stack);
  const { env, settings, progress } = stack;
  const database = await openDatabase(stack);
  const ours = {
    ...env,
    // The URL itself is passed on, and a process accepts only one of the two.
    DATABASE_URL_FILE: "",
    DATA_DIR: settings.dataDirectory,
    PORT: String(settings.port),
    [STOP_ON_STDIN_END]: "true",
  };
  await prepareDatabase(stack, { ...ours, DATABASE_URL: database.ownerUrl });
  const services = await launchAll(stack, { ...ours, DATABASE_URL: database.url });
  const ended = failWhenOneEnds(services, database.server);
  const isUp = await progress.step("Starting the service", () => {
    const poll = pollUntil(() => isReady(settings), { timeoutMs: READY_TIMEOUT_MS, intervalMs: 25 });
    return Promise.race([poll, ended]);
  });
  if (!isUp) throw new StartError(`Cannot start the API: not ready after ${READY_TIMEOUT_MS / 1000} s`);
  announce(stack);
  await ended;
}

/**
 * Creates and locks the data directory until disposed; `wasAbandoned` is true if the last start there was killed. Throws
 * StartError if another start holds the lock.
 */
function lockDataDirectory(dataDirectory: string): Disposable & Pick<Stack, "wasAbandoned"> {
  const pidPath = join(dataDirectory, "start.pid");
  try {
    mkdirSync(dataDirectory, { recursive: true });
    // Until this process ends, even by a crash: the kernel releases SQLite's locks.
    const lock = new LockFile(join(dataDirectory, "start.lock"));
    lock.run("begin exclusive");
    const wasAbandoned = readText(pidPath) !== null;
    writeFileSync(pidPath, `${process.pid}\n`);
    return {
      wasAbandoned,
      [Symbol.dispose]() {
        rmSync(pidPath, { force: true });
        lock.close();
      },
    };
  } catch (cause) {
    const { code, message } = cause as { code?: string; message: string };
    const pid = readText(pidPath)?.trim();
    const reason =
      code === "SQLITE_BUSY"
        ? `another \`bun run start\` (process ${pid}) is running there. Stop it with Ctrl-C in its terminal or with \`kill ${pid}\`.`
        : message;
    throw new StartError(`Cannot use ${dataDirectory}: ${reason}`, { cause });
  }
}

/**
 * Runs the service until it is asked to stop or something exits unexpectedly; then stops everything. Returns the exit code.
 */
export async function runStack(command: Command): Promise<number> {
  const settings = readStackSettings(command.root, command.env);
  for (const warning of describeUnknownVariables(command.env)) command.stderr.write(`${warning}\n`);
  using lock = lockDataDirectory(settings.dataDirectory);
  await using supervisor = openSupervisor(command);
  try {
    const { wasAbandoned } = lock;
    await untilAborted(bringUp({ ...command, settings, supervisor, wasAbandoned }), command.stop);
  } catch (error) {
    if (!command.stop.aborted) throw error;
    command.stderr.write("Stopping. Press Ctrl-C again to stop at once.\n");
  }
  return 0;
}
