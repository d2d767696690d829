/** `bun run start`: database, migrations, demo data, processes, then waits. */
import { Database as LockFile } from "bun:sqlite";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Config, readConfig } from "../../shared/process/config.ts";
import { describeUnknownVariables } from "../../shared/process/unknown_variables.ts";
import type { Command } from "./bootstrap.ts";
import { databaseUrlPath, startEmbeddedPostgres } from "./embedded_postgres.ts";
import { chooseFreePort, findListenProblem, readText } from "./machine.ts";
import { OWNER_ROLE, RUNTIME_ROLE } from "./postgres_cluster.ts";
import { launchProcess, metricsPortOf, SERVICE_PROCESSES } from "./service_processes.ts";
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

/** The API of a killed start closes its port when its stdin ends, or at the latest when its requests are cut off. */
const ABANDONED_PORT_MS = 30_000;
/** Placeholder for the URL of the embedded database; nothing connects to it. */
const EMBEDDED = "postgres://embedded";

export interface StackSettings extends Omit<Config, "databaseUrl"> {
  /** Absolute. */
  dataDirectory: string;
  /** Null: start the embedded PostgreSQL. */
  databaseUrl: string | null;
}

export interface StartOptions extends Command {
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

interface Stack extends StartOptions {
  settings: StackSettings;
  supervisor: Supervisor;
  /** True if the last start on this data directory was killed. */
  wasAbandoned: boolean;
}

interface Database {
  /** Of the role that the service runs as. */
  url: string;
  /** Of the role that migrates. */
  ownerUrl: string;
  server: Child | null;
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

/** Throws StartError if a port is in use; waits if the API of a killed start is about to close its own. */
async function requireFreePorts({ settings, progress, wasAbandoned }: Stack): Promise<void> {
  const { host, port, metricsHost, metricsPort } = settings;
  const isFree = () => findListenProblem(host, port) === null;
  if (wasAbandoned && !isFree()) {
    await progress.step("Waiting for the port, which a killed start is leaving", () =>
      pollUntil(isFree, { timeoutMs: ABANDONED_PORT_MS, intervalMs: 50 }),
    );
  }
  const problem = findListenProblem(host, port);
  if (problem) throw new StartError(`${problem}. Set HOST or PORT to listen elsewhere.`);
  for (const service of metricsPort === null ? [] : SERVICE_PROCESSES) {
    const taken = findListenProblem(metricsHost, metricsPortOf(service, metricsPort ?? 0));
    if (!taken) continue;
    throw new StartError(
      `${taken}. Metrics of ${service.name} need it; set METRICS_PORT to listen elsewhere.`,
    );
  }
}

/** Starts the embedded database, or uses the one of DATABASE_URL, whose only role also migrates. */
async function openDatabase({ settings, supervisor, progress }: Stack): Promise<Database> {
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
      ...{ name: purpose, command: process.execPath, args, cwd: root, env, stopsOnStdinEnd: true },
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

/** Returns the base URL to connect to. Nothing can connect to 0.0.0.0 or ::, so loopback takes their place. */
function toBaseUrl({ host, port }: StackSettings): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

async function launchAll(stack: Stack, env: NodeJS.ProcessEnv): Promise<Child[]> {
  const { settings, supervisor, root, progress, stderr, stdout } = stack;
  const started: Child[] = [];
  for (const service of SERVICE_PROCESSES) {
    // On a terminal, logs go to files; a pipe gets them, as `docker logs` and systemd expect.
    const logPath = stdout.isTTY ? join(settings.dataDirectory, "logs", `${service.name}.log`) : null;
    const onNotice = (notice: string) => void stderr.write(`${notice}\n`);
    const { metricsPort } = settings;
    const own = metricsPort === null ? {} : { METRICS_PORT: String(metricsPortOf(service, metricsPort)) };
    const launch = { supervisor, root, env: { ...env, ...own }, baseUrl: toBaseUrl(settings) };
    started.push(
      await progress.step(`Starting ${service.name}`, () =>
        launchProcess(service, { ...launch, logPath, onNotice }),
      ),
    );
  }
  return started;
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

/** Waits until something exits and describes it: PostgreSQL if it has, because then processes exit too. */
async function untilOneEnds(stack: Stack, services: readonly Child[], { server }: Database): Promise<string> {
  const log = join(stack.settings.dataDirectory, "logs", "postgres.log");
  const ends = [...services, ...(server ? [server] : [])].map(
    async ({ name, exited }) => `${name} ended unexpectedly (${describeExit(await exited)})`,
  );
  const reason = await Promise.race(ends);
  // Processes may notice first.
  const isServerGone = server !== null && (await settlesWithin(server.exited, 1000));
  return isServerGone ? `PostgreSQL ended unexpectedly; ${log} says why` : reason;
}

/** Starts everything, then waits; throws if something exits unexpectedly. */
async function bringUp(stack: Stack): Promise<never> {
  await requireFreePorts(stack);
  const { env, settings } = stack;
  const database = await openDatabase(stack);
  // The URL itself is passed on, and a process accepts only one of the two.
  const ours = {
    ...env,
    DATABASE_URL_FILE: "",
    DATA_DIR: settings.dataDirectory,
    PORT: String(settings.port),
  };
  await prepareDatabase(stack, { ...ours, DATABASE_URL: database.ownerUrl });
  const services = await launchAll(stack, { ...ours, DATABASE_URL: database.url });
  announce(stack);
  throw new StartError(`Cannot go on: ${await untilOneEnds(stack, services, database)}`);
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
export async function runStack(options: StartOptions): Promise<number> {
  const settings = readStackSettings(options.root, options.env);
  for (const warning of describeUnknownVariables(options.env)) options.stderr.write(`${warning}\n`);
  using lock = lockDataDirectory(settings.dataDirectory);
  await using supervisor = openSupervisor(options);
  try {
    await untilAborted(
      bringUp({ ...options, settings, supervisor, wasAbandoned: lock.wasAbandoned }),
      options.stop,
    );
  } catch (error) {
    if (!options.stop.aborted) throw error;
    options.stderr.write("Stopping. Press Ctrl-C again to stop at once.\n");
  }
  return 0;
}
