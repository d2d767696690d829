/** `bun run start`: starts PostgreSQL, migrates, loads demo data, starts the processes, and waits for a stop signal. */
import { Database as LockFile } from "bun:sqlite";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { httpFetch } from "../../shared/network/http_fetch.ts";
import { type Config, type ConfigResult, readConfig } from "../../shared/process/config.ts";
import { STOP_ON_STDIN_END } from "../../shared/process/stdin_end.ts";
import { describeUnknownVariables } from "../../shared/process/unknown_variables.ts";
import { pollUntil, settlesWithin, untilAborted } from "../../shared/process/with_timeout.ts";
import { type Command, elapsed } from "./bootstrap.ts";
import { databaseUrlPath, OWNER_ROLE, RUNTIME_ROLE, startEmbeddedPostgres } from "./embedded_postgres.ts";
import { chooseFreePort, findListenProblem, readText } from "./machine.ts";
import { type Child, describeExit, openSupervisor, type Supervisor } from "./supervisor.ts";

/** The folders of the processes, each with a `main.ts`. The index of each folder is added to METRICS_PORT. */
const SERVICE_PROCESSES = ["api", "jobs", "catalog-sync"] as const;
/** Maximum wait for the API of a killed start to close its port, including the time until its requests are cut off. */
const ABANDONED_PORT_MS = 30_000;
const READY_TIMEOUT_MS = 30_000;
const PROBE_MS = 1000;
const CREDENTIALS = "demo-credentials.txt";
/** Matches the origin of URLs in the credentials, which may have been written for another port. */
const ORIGIN_OF_API = /https?:\/\/[^/\s']+(?=\/api\/v1)/g;
/** Placeholder for the URL of the embedded database; nothing connects to it. */
const EMBEDDED = "postgres://embedded";

interface Stack extends Command {
  /** The configuration, with DATA_DIR as an absolute path. */
  settings: Config;
  supervisor: Supervisor;
}

/** Reads the settings, or returns a line for each problem. Replaces port 0 with a free port. */
export function readStackSettings(root: string, env: NodeJS.ProcessEnv): ConfigResult {
  const isEmbedded = !env["DATABASE_URL"]?.trim() && !env["DATABASE_URL_FILE"]?.trim();
  const given = isEmbedded ? { ...env, DATABASE_URL: EMBEDDED } : env;
  let result = readConfig(given);
  if (result.ok && result.config.port === 0) {
    result = readConfig({ ...given, PORT: String(chooseFreePort(result.config.host)) });
  }
  if (!result.ok) return result;
  const { config } = result;
  if (isEmbedded && config.databaseDirectUrl !== EMBEDDED) {
    return { ok: false, problems: ["DATABASE_DIRECT_URL: must not be set without DATABASE_URL"] };
  }
  return { ok: true, config: { ...config, dataDir: resolve(root, config.dataDir) } };
}

/** Throws if the API's port is in use. After a killed start, first waits until the old API closes the port. */
async function requireFreePort({ settings, step }: Stack, wasAbandoned: boolean): Promise<void> {
  const findProblem = () => findListenProblem(settings.host, settings.port);
  if (wasAbandoned && findProblem() !== null) {
    await step("Waiting for the port, which a killed start is leaving", () =>
      pollUntil(() => findProblem() === null, { timeoutMs: ABANDONED_PORT_MS, intervalMs: 50 }),
    );
  }
  const problem = findProblem();
  if (problem) throw new Error(`${problem}. Set HOST or PORT to listen elsewhere.`);
}

/** Migrates the database as its owner, and loads the model catalog and demo data into an empty database. */
async function prepareDatabase(stack: Stack, env: NodeJS.ProcessEnv): Promise<void> {
  const { supervisor, root, step, settings } = stack;
  const admin = "api/admin/main.ts";
  const file = join(settings.dataDir, CREDENTIALS);
  const seed = [admin, "demo", "seed", "--if-empty", "--credentials-file", file];
  const run = async (note: (text: string) => void, purpose: string, args: readonly string[]) => {
    const child = await supervisor.spawn({
      ...{ name: purpose, command: process.execPath, args, cwd: root, env },
      // Our commands print progress on stderr.
      output: (line, stream) => void (stream === "stderr" && note(line)),
    });
    const exit = await child.exited;
    if (exit.code === 0) return;
    throw new Error(`Cannot ${purpose}: ${child.lastLines.slice(-3).join("\n") || describeExit(exit)}`);
  };
  await step("Applying migrations", (note) => run(note, "apply the migrations", [admin, "migrate"]));
  // The two commands do not depend on each other, and most machines have at least two processors.
  await step("Loading the model catalog and demo data", (note) =>
    Promise.all([
      run(note, "load the model catalog", ["catalog-sync/main.ts", "--if-empty"]),
      run(note, "load the demo data", seed),
    ]),
  );
}

/** Returns whether the API is ready. Replaces 0.0.0.0 and ::, which clients cannot connect to, with the loopback address. */
async function isReady({ host, port }: Config): Promise<boolean> {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const url = `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}/health/ready`;
  const response = await httpFetch(url, { headersMs: PROBE_MS, idleMs: PROBE_MS }).catch(() => null);
  await response?.body?.cancel();
  return response?.status === 200;
}

/** Starts the processes. Logs go to files if stdout is a terminal, otherwise to stdout, as `docker logs` and systemd expect. */
function launchAll({ settings, supervisor, root, stdout }: Stack, env: NodeJS.ProcessEnv): Promise<Child[]> {
  const { dataDir, metricsPort } = settings;
  const launches = SERVICE_PROCESSES.map((name, index) =>
    supervisor.spawn({
      ...{ name, command: process.execPath, args: [`${name}/main.ts`], cwd: root },
      // With port 0, each process chooses a free port.
      env: metricsPort ? { ...env, METRICS_PORT: String(metricsPort + index) } : env,
      output: stdout.isTTY ? { logPath: join(dataDir, "logs", `${name}.log`) } : "inherit",
    }),
  );
  return Promise.all(launches);
}

function announce({ settings, root, stdout }: Stack): void {
  const { publicUrl, dataDir, databaseUrl } = settings;
  const shown = (path: string) => (path.startsWith(root) ? relative(root, path) : path);
  const path = join(dataDir, CREDENTIALS);
  const credentials = readText(path)?.replaceAll(ORIGIN_OF_API, publicUrl) ?? null;
  const facts = {
    Dashboard: `${publicUrl}/dashboard`,
    API: `${publicUrl}/api/v1`,
    "Swagger UI": `${publicUrl}/swagger`,
    Database: databaseUrl === EMBEDDED ? `embedded; its URL is in ${shown(databaseUrlPath(dataDir))}` : null,
    Credentials: credentials === null ? null : shown(path),
    Logs: stdout.isTTY ? `${shown(join(dataDir, "logs"))}/` : null,
  };
  stdout.write(renderBanner(elapsed(0), facts, credentials));
}

/** Returns the ready message: a row for each fact that is not null, then the demo's credentials. */
export function renderBanner(
  took: string,
  facts: Readonly<Record<string, string | null>>,
  credentials: string | null,
): string {
  const rows = Object.entries(facts).filter(([, value]) => value !== null);
  const table = rows.map(([name, value]) => `  ${name.padEnd(13)}${value}`).join("\n");
  const demo = credentials === null ? [] : [credentials.trimEnd().replace(/^(?=.)/gm, "  ")];
  return [`Ready in ${took}`, table, ...demo, "Ctrl-C stops everything", ""].join("\n\n");
}

/** Waits until a child exits, then throws. Names PostgreSQL if it has exited, because its exit stops the other processes. */
async function failWhenOneEnds(services: readonly Child[], server: Child | null): Promise<never> {
  const children = server ? [server, ...services] : services;
  const first = await Promise.race(children.map((child) => child.exited.then(() => child)));
  // If PostgreSQL fails, another process may exit first.
  const isServerGone = server !== null && (await settlesWithin(server.exited, 1000));
  const { name, exited, logPath } = isServerGone ? server : first;
  const hint = logPath === null ? "" : `; ${logPath} says why`;
  throw new Error(`Cannot go on: ${name} ended unexpectedly (${describeExit(await exited)})${hint}`);
}

/** Starts everything, then waits. Throws if a child exits unexpectedly. */
async function bringUp(stack: Stack, wasAbandoned: boolean): Promise<void> {
  await requireFreePort(stack, wasAbandoned);
  claimDataDirectory(stack.settings);
  const { env, settings, supervisor, step } = stack;
  const { dataDir: dataDirectory, port: reservedPort } = settings;
  const start = () => startEmbeddedPostgres({ supervisor, dataDirectory, reservedPort });
  const server = settings.databaseUrl === EMBEDDED ? await step("Starting PostgreSQL", start) : null;
  const ours = {
    ...env,
    // The processes get DATABASE_URL itself, and they reject a configuration with both variables.
    DATABASE_URL_FILE: "",
    DATA_DIR: settings.dataDir,
    PORT: String(settings.port),
    [STOP_ON_STDIN_END]: "true",
  };
  // If the user sets DATABASE_URL, its role also runs the migrations.
  const { [OWNER_ROLE]: ownerUrl, [RUNTIME_ROLE]: url } = server?.urls ?? {};
  await prepareDatabase(stack, { ...ours, DATABASE_URL: ownerUrl ?? settings.databaseUrl });
  const services = await launchAll(stack, { ...ours, DATABASE_URL: url ?? settings.databaseUrl });
  const ended = failWhenOneEnds(services, server);
  const isUp = await step("Starting the service", () => {
    const poll = pollUntil(() => isReady(settings), { timeoutMs: READY_TIMEOUT_MS, intervalMs: 25 });
    return Promise.race([poll, ended]);
  });
  if (!isUp) throw new Error(`Cannot start the API: not ready after ${READY_TIMEOUT_MS / 1000} s`);
  announce(stack);
  await ended;
}

/** Binds the data directory to one database. Throws if it has exports and credentials of another database. */
function claimDataDirectory({ dataDir, databaseUrl }: Config): void {
  const path = join(dataDir, "database");
  // The URL without credentials and parameters.
  const name = databaseUrl.replaceAll(/^[^/]*\/\/([^@/]*@)?|\?.*$/g, "");
  const known = readText(path)?.trim() ?? (existsSync(databaseUrlPath(dataDir)) ? "embedded" : name);
  if (known !== name) {
    const reason = `it has exports and credentials of "${known}"`;
    const remedy = `Set DATA_DIR to another folder, or delete ${path} if both are the same.`;
    throw new Error(`Cannot use ${dataDir} for "${name}": ${reason}. ${remedy}`);
  }
  writeFileSync(path, `${name}\n`);
}

/**
 * Creates the data directory and locks it until disposed. `wasAbandoned` is true if the last start with the directory was killed.
 * Throws if another start holds the lock.
 */
function lockDataDirectory(dataDirectory: string): Disposable & { wasAbandoned: boolean } {
  const pidPath = join(dataDirectory, "start.pid");
  try {
    mkdirSync(dataDirectory, { recursive: true });
    // The kernel releases SQLite's lock when this process exits, even after a crash.
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
    throw new Error(`Cannot use ${dataDirectory}: ${reason}`, { cause });
  }
}

/** Runs the service until it is asked to stop. Returns the exit code. Throws if a child exits unexpectedly. */
export async function runStack(command: Command): Promise<number> {
  const result = readStackSettings(command.root, command.env);
  if (!result.ok) {
    command.stderr.write(`${result.problems.join("\n")}\n`);
    return 1;
  }
  const settings = result.config;
  for (const warning of describeUnknownVariables(command.env)) command.stderr.write(`${warning}\n`);
  using lock = lockDataDirectory(settings.dataDir);
  await using supervisor = openSupervisor(command);
  try {
    await untilAborted(bringUp({ ...command, settings, supervisor }, lock.wasAbandoned), command.stop);
  } catch (error) {
    if (!command.stop.aborted) throw error;
    command.stderr.write("Stopping. Press Ctrl-C again to stop at once.\n");
  }
  return 0;
}
