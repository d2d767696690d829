/** Runs the whole API on its own database. Requests pass through `handle`, like requests from a socket. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, buildApp, type OwnRoutes } from "../../../api/app.ts";
import type { Deps } from "../../../api/deps.ts";
import { openDocuments } from "../../../api/documents/documents.ts";
import { createCredentialCache } from "../../../api/http/credential_cache.ts";
import { createMetrics } from "../../../api/http/metrics.ts";
import type { StreamRules } from "../../../api/http/response/stream.ts";
import { canonicalPath } from "../../../api/http/route.ts";
import { CatalogCache } from "../../../api/models/catalog_cache.ts";
import { type Config, readConfig } from "../../../shared/process/config.ts";
import { createLog } from "../../../shared/process/log.ts";
import { API_APPLICATION, EXPORT_APPLICATION } from "../../../sql/connection/application_names.ts";
import { Replica } from "../../../sql/connection/replica.ts";
import { countExportConnections, EXPORT_LANES_MAX } from "../../../sql/connection/snapshot.ts";
import { openQueue } from "../../../sql/job_queue.ts";
import { openNodes } from "../../../sql/tracker/tracker_shards.ts";
import { openTestDatabase, type TestDatabase } from "../postgres/database.ts";
import { createFactory, type Factory } from "../postgres/factory.ts";
import { openContract } from "./contract.ts";

export interface TestRequest {
  method?: string;
  /** The credential, sent as `Authorization: Bearer …`. */
  key?: string;
  headers?: Readonly<Record<string, string>>;
  /** The body. A string is sent unchanged, any other value as JSON. */
  body?: unknown;
  /** The client's IP address, for rate limits. */
  address?: string;
}

/** A parsed log line. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface TestApp extends AsyncDisposable {
  app: App;
  deps: Deps;
  db: TestDatabase;
  /** Creates rows in the app's database. */
  make: Factory;
  /** All log lines, in order. */
  logLines: LogLine[];
  /** Makes the app behave as it does between SIGTERM and its exit. */
  leave(): void;
  /** Sends a request. Throws if the response contradicts the OpenAPI document or has wrong security headers. */
  request(path: string, options?: TestRequest): Promise<Response>;
}

export interface TestAppOptions {
  config?: Partial<Config>;
  /** The database to use, dropped with the app; a new one if omitted. */
  database?: TestDatabase;
  /** The test's own servers. The database is created on the primary; the app also reads from the replica. */
  servers?: { primaryUrl: string; replicaUrl: string };
  /** The clock for rate limits, authenticator app codes and audited refusals, in milliseconds since the epoch. */
  now?: () => number;
  /** Overrides STREAM_RULES. */
  streamRules?: Partial<StreamRules>;
  /** Routes to serve instead of the service's own routes. */
  routes?: OwnRoutes;
}

/** Returns the default configuration with this database and data directory, a smaller pool, and `overrides`. */
function testConfig(databaseUrl: string, dataDir: string, overrides: Partial<Config> = {}): Config {
  const result = readConfig({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir });
  if (!result.ok) throw new Error(result.problems.join("\n"));
  // A caller's writes may use a quarter of the connections. Four concurrent writes suffice to test locks.
  return { ...result.config, databasePoolMax: 16, ...overrides };
}

/** Returns the URL of the same database and role on another server. */
function sameDatabase(serverUrl: string, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.host = new URL(serverUrl).host;
  return url.href;
}

/** Creates the request that `TestApp.request` sends. */
export function testRequest(url: string, options: TestRequest = {}): Request {
  const { method = "GET", key, headers = {}, body } = options;
  const isJson = body !== undefined && typeof body !== "string";
  return new Request(url, {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(isJson ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
  });
}

/** Opens the app; `await using` drops its database. */
export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { servers } = options;
  const db = options.database ?? (await openTestDatabase(servers?.primaryUrl));
  const dataDir = await mkdtemp(join(tmpdir(), "ulr-app-"));
  const config = testConfig(db.url, dataDir, {
    databaseReplicaUrl: servers ? sameDatabase(servers.replicaUrl, db.url) : null,
    ...options.config,
  });
  const stop = new AbortController();
  const logLines: LogLine[] = [];
  const sql = db.openPool({
    applicationName: API_APPLICATION,
    max: config.databasePoolMax,
    limitsLockWaits: true,
  });
  const log = createLog({
    level: "debug",
    process: "test",
    destination: { write: (line) => void logLines.push(JSON.parse(line)) },
  });
  const exports = {
    applicationName: EXPORT_APPLICATION,
    max: countExportConnections(config.exportStreamsMax),
    lanesMax: EXPORT_LANES_MAX,
    log,
  };
  const { databaseReplicaUrl: url } = config;
  const replica = url ? new Replica(url, { primary: sql, ...exports }) : null;
  const nodes = await openNodes(sql, { url: db.url, ...exports });
  const deps: Deps = {
    config,
    sql,
    replica,
    nodes,
    exportSql: db.openPool({
      applicationName: EXPORT_APPLICATION,
      max: countExportConnections(config.exportStreamsMax),
      readOnly: true,
    }),
    boss: await openQueue(sql, (error) => {
      throw error;
    }),
    documents: openDocuments({ log }),
    // Does not poll. Tests call refresh() after a change.
    catalog: new CatalogCache({ sql, replica, log }),
    callers: createCredentialCache(),
    log,
    metrics: createMetrics(),
    tracing: null,
    shutdownSignal: stop.signal,
    ...(options.now ? { now: options.now } : {}),
    ...(options.streamRules ? { streamRules: options.streamRules } : {}),
  };
  const app = options.routes ? buildApp(deps, options.routes) : buildApp(deps);
  const contract = options.routes ? null : await openContract(app);
  // Discards the log lines written while the first app of a process serves the OpenAPI document.
  logLines.length = 0;
  return {
    app,
    deps,
    db,
    make: createFactory(db.sql),
    logLines,
    leave: () => stop.abort(),
    async request(path, options = {}) {
      const request = testRequest(`http://localhost${path}`, options);
      const response = await app.handle(request, options.address ?? "192.0.2.1");
      const { method } = request;
      const problem = await contract?.check(
        { method, path: canonicalPath(new URL(request.url).pathname) },
        response,
      );
      if (problem) throw new Error(`Cannot accept the answer: ${problem}`);
      if (response.headers.get("x-content-type-options") !== "nosniff" || response.headers.has("server")) {
        throw new Error("Cannot accept the answer: its security headers are wrong");
      }
      return response;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([deps.boss.stop({ graceful: false }), deps.documents.close()]);
      await Promise.all([replica?.close(), deps.nodes?.close()]);
      await db[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
