/** Serves the metrics and health of a process to operators, on METRICS_PORT. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Gauge, type Registry } from "prom-client";
import { TEXTS } from "../error_texts.ts";
import { ApiError } from "../errors.ts";
import { requestUrl } from "../network/request_url.ts";
import type { Config } from "../process/config.ts";
import { type Host, listenOrExit } from "../process/entry_point.ts";
import type { Log } from "../process/log.ts";
import { shareFor } from "./measured_gauge.ts";

/** How long the metrics are reused. Collecting them takes milliseconds and queries the database. */
const TEXT_FRESH_MS = 1_000;
/** The time after which an idle connection is closed. */
const IDLE_TIMEOUT_SECONDS = 10;

interface MetricsServerOptions {
  registry: Registry;
  /** Responds to GET /health/ready. Throws an ApiError while the process is not ready. */
  respondReady: () => Promise<Response>;
  log: Log;
}

/** Returns a function that reads the metrics. A result is reused for a second, regardless of the number of scrapers. */
export function createMetricsReader(registry: Registry): () => Promise<string> {
  return shareFor(TEXT_FRESH_MS, () => registry.metrics());
}

/** Serves metrics and health on METRICS_PORT. Returns null if METRICS_PORT is unset. Exits if the port is in use. */
export function serveMetricsOrExit(
  host: Host,
  config: Pick<Config, "metricsHost" | "metricsPort">,
  options: MetricsServerOptions,
): Bun.Server<undefined> | null {
  if (config.metricsPort === null) return null;
  const at = { host: config.metricsHost, port: config.metricsPort };
  registerBuildInfo(options.registry);
  const server = listenOrExit(host, at, () => serveMetrics(at, options));
  options.log.info({ host: at.host, port: server.port }, "serving metrics");
  return server;
}

/** Starts the server. Throws an error with the code `EADDRINUSE` if the port is in use. */
function serveMetrics(
  { host, port }: { host: string; port: number },
  { registry, respondReady, log }: MetricsServerOptions,
): Bun.Server<undefined> {
  const readText = createMetricsReader(registry);
  const pages: Readonly<Record<string, () => Promise<Response>>> = {
    "/metrics": async () =>
      new Response(await readText(), { headers: { "Content-Type": registry.contentType } }),
    "/health/live": async () => Response.json({ data: { status: "live" } }),
    "/health/ready": respondReady,
  };
  return Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    development: false,
    // With Bun's default outside development, two processes could share the port, each with half of the connections.
    reusePort: false,
    maxRequestBodySize: 0,
    async fetch(request) {
      const response = await respond(request, pages).catch((error: unknown) => respondFailure(error, log));
      response.headers.set("X-Content-Type-Options", "nosniff");
      response.headers.set("Cache-Control", "no-store");
      return response;
    },
  });
}

const METHODS = "GET, HEAD";
const NO_SUCH_PATH = "Not found. This port serves /metrics, /health/live and /health/ready.";
const UNREADABLE = "The metrics could not be read. See the log of the process.";

async function respond(
  request: Request,
  pages: Readonly<Record<string, () => Promise<Response>>>,
): Promise<Response> {
  const path = requestUrl(request)?.pathname ?? "";
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (!page) throw new ApiError("NOT_FOUND", { message: NO_SUCH_PATH });
  if (request.method === "GET" || request.method === "HEAD") return page();
  throw new ApiError("METHOD_NOT_ALLOWED", {
    message: TEXTS.METHOD_NOT_ALLOWED(METHODS),
    headers: { Allow: METHODS },
  });
}

function respondFailure(thrown: unknown, log: Log): Response {
  const isExpected = thrown instanceof ApiError;
  if (!isExpected) log.error({ event: "metrics.failed", err: thrown }, "cannot serve metrics");
  const error = isExpected ? thrown : new ApiError("INTERNAL_SERVER_ERROR", { message: UNREADABLE });
  const { status, code, message, details, headers } = error;
  return Response.json({ error: { code, message, details } }, { status, headers });
}

const ROOT = join(import.meta.dir, "../..");

/** Registers `build_info` with the version of package.json and the revision of the source. */
function registerBuildInfo(registry: Registry): void {
  new Gauge({
    name: "build_info",
    help: "Always 1; the labels name the version and the source revision of the process",
    labelNames: ["version", "revision"],
    registers: [registry],
  }).set({ version: readVersion(), revision: readRevision() }, 1);
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  return version;
}

/** Returns the content of the file REVISION, which images contain instead of a repository, or else the commit of the repository. */
function readRevision(): string {
  try {
    return readFileSync(join(ROOT, "REVISION"), "utf8").trim();
  } catch {
    return readCommit();
  }
}

function readCommit(): string {
  try {
    const { exitCode, stdout } = Bun.spawnSync(["git", "rev-parse", "HEAD"], { cwd: ROOT, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString().trim() : "unknown";
  } catch {
    return "unknown";
  }
}
