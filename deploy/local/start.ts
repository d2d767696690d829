/** `bun run start` with the dependencies installed: database, migrations, demo data, processes, then waits. */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { renderBanner } from "./banner.ts";
import type { Command } from "./bootstrap.ts";
import { lockDataDirectory } from "./data_lock.ts";
import { databaseUrlPath, startEmbeddedPostgres } from "./embedded_postgres.ts";
import { findListenProblem } from "./ports.ts";
import { OWNER_ROLE, RUNTIME_ROLE } from "./postgres_roles.ts";
import { elapsed } from "./progress.ts";
import { runBun } from "./run_bun.ts";
import { launchProcess, metricsPortOf, SERVICE_PROCESSES } from "./service_processes.ts";
import { readStackSettings, type StackSettings } from "./settings.ts";
import { StartError } from "./start_error.ts";
import { type Child, describeExit, openSupervisor, type Supervisor } from "./supervisor.ts";
import { pollUntil, untilAborted } from "./wait.ts";

/** The API of a killed start closes its port when its stdin ends, or at the latest when its requests are cut off. */
const ABANDONED_PORT_MS = 30_000;

const DATABASE_POLL_MS = 500;
const MAX_PORT = 65_535;

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
  hasEnded(): boolean;
}

function credentialsPath(settings: StackSettings): string {
  return join(settings.dataDirectory, "demo-credentials.txt");
}

/** Throws StartError if the port is in use; waits if the API of a killed start is about to close it. */
async function requireFreePort({ settings, progress, wasAbandoned }: Stack): Promise<void> {
  const findProblem = () => findListenProblem(settings.host, settings.port);
  if (wasAbandoned && (await findProblem())) {
    const isFree = async () => (await findProblem()) === null;
    await progress.step("Waiting for the port, which a killed start is leaving", () =>
      pollUntil(isFree, { timeoutMs: ABANDONED_PORT_MS, intervalMs: 50 }),
    );
  }
  const problem = await findProblem();
  if (problem) throw new StartError(`${problem}. Set HOST or PORT to listen elsewhere.`);
  await requireFreeMetricsPorts(settings);
}

/** Throws StartError if METRICS_PORT or one of the next two ports is in use: each process listens on one. */
async function requireFreeMetricsPorts({ metricsHost, metricsPort }: StackSettings): Promise<void> {
  if (metricsPort === null) return;
  for (const service of SERVICE_PROCESSES) {
    const port = metricsPortOf(service, metricsPort);
    const problem =
      port > MAX_PORT ? `Cannot listen on port ${port}` : await findListenProblem(metricsHost, port);
    if (problem) {
      throw new StartError(
        `${problem}. Metrics of ${service.name} need it; set METRICS_PORT to listen elsewhere.`,
      );
    }
  }
}

/** Starts the embedded database, or uses the one of DATABASE_URL, whose only role also migrates. */
async function openDatabase({ settings, supervisor, progress }: Stack): Promise<Database> {
  const { dataDirectory, databaseUrl: url } = settings;
  if (url !== null) return { url, ownerUrl: url, hasEnded: () => false };
  const { urls, hasEnded } = await progress.step("Starting PostgreSQL", () =>
    startEmbeddedPostgres({ supervisor, dataDirectory }),
  );
  return { url: urls[RUNTIME_ROLE], ownerUrl: urls[OWNER_ROLE], hasEnded };
}

/** Migrates the database as its owner, and fills an empty one with a first model catalog and demo data. */
async function prepareDatabase(stack: Stack, env: NodeJS.ProcessEnv): Promise<void> {
  const { supervisor, root, progress, settings } = stack;
  const admin = "api/admin/main.ts";
  const seed = [admin, "demo", "seed", "--if-empty", "--credentials-file", credentialsPath(settings)];
  const run = (note: (text: string) => void, purpose: string, args: readonly string[]) =>
    runBun({ supervisor, root, env, note, purpose, args });
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
    const options = {
      supervisor,
      root,
      env: { ...env, ...own },
      baseUrl: toBaseUrl(settings),
      logPath,
      onNotice,
    };
    started.push(await progress.step(`Starting ${service.name}`, () => launchProcess(service, options)));
  }
  return started;
}

function readCredentials(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function announce({ settings, root, stdout, startedAt }: Stack): void {
  const { publicUrl, dataDirectory, databaseUrl } = settings;
  const shown = (path: string) => (path.startsWith(root) ? relative(root, path) : path);
  const path = credentialsPath(settings);
  const text = readCredentials(path);
  stdout.write(
    renderBanner({
      took: elapsed(startedAt),
      publicUrl,
      logDirectory: stdout.isTTY ? `${shown(join(dataDirectory, "logs"))}/` : null,
      databaseUrlFile: databaseUrl ? null : shown(databaseUrlPath(dataDirectory)),
      credentials: text === null ? null : { path: shown(path), text },
    }),
  );
}

/** Waits until something exits and describes it. Checks PostgreSQL first, because its exit makes processes exit too. */
async function untilOneEnds(stack: Stack, services: readonly Child[], database: Database): Promise<string> {
  const serviceEnds = services.map(
    async ({ name, exited }) => `${name} ended unexpectedly (${describeExit(await exited)})`,
  );
  const watch = { timeoutMs: Number.POSITIVE_INFINITY, intervalMs: DATABASE_POLL_MS };
  const reason = await Promise.race([...serviceEnds, pollUntil(database.hasEnded, watch)]);
  if (!database.hasEnded()) return String(reason);
  const log = join(stack.settings.dataDirectory, "logs", "postgres.log");
  return `PostgreSQL ended unexpectedly; ${log} says why`;
}

/** Starts everything, then waits; throws if something exits unexpectedly. */
async function bringUp(stack: Stack): Promise<never> {
  await requireFreePort(stack);
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

/** Runs the service until it is asked to stop or something exits unexpectedly; then stops everything. */
export async function runStack(options: StartOptions): Promise<void> {
  const settings = await readStackSettings(options.root, options.env);
  for (const warning of settings.warnings) options.stderr.write(`${warning}\n`);
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
}
