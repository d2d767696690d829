/** A test's own Citus cluster: a coordinator and workers on this machine, on Debian's PostgreSQL 15. */
import { join } from "node:path";
import postgres from "postgres";
import { CITUS_BIN_DIRECTORY } from "../../groups/groups.ts";
import { OwnServer } from "./own_server.ts";

export const CITUS_SETTINGS = {
  shared_preload_libraries: "citus",
  wal_level: "logical",
  max_prepared_transactions: "200",
  // Citus needs a background worker for each database.
  max_worker_processes: "100",
  shared_buffers: "64MB",
  "citus.shard_count": "4",
  "citus.recover_2pc_interval": "1s",
  // Turns off Citus's usage reports.
  "citus.enable_statistics_collection": "off",
};

export class CitusCluster implements AsyncDisposable {
  readonly coordinator: OwnServer;
  readonly workers: readonly OwnServer[];
  #restore: () => void = () => {};
  /** The superuser URLs of the servers: the coordinator first, then the workers. */
  urls: string[] = [];

  constructor({ workers = 2 } = {}) {
    const options = { binDirectory: CITUS_BIN_DIRECTORY, settings: CITUS_SETTINGS };
    this.coordinator = new OwnServer(options);
    this.workers = Array.from({ length: workers }, () => new OwnServer(options));
  }

  get servers(): OwnServer[] {
    return [this.coordinator, ...this.workers];
  }

  async start(): Promise<void> {
    for (const server of this.servers) {
      this.urls.push(await server.start());
      // The nodes connect to each other without a password.
      await Bun.write(join(server.directory, "postgres", "pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
    }
    for (const url of this.urls) await inDatabase(url, "postgres", (sql) => sql`select pg_reload_conf()`);
  }

  /** Starts the cluster. Until its disposal, this process creates its test databases there. */
  async serve(): Promise<void> {
    await this.start();
    this.#restore = serveTests(this.urls);
  }

  async [Symbol.asyncDispose]() {
    this.#restore();
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
  }
}

/**
 * Makes this process create its test databases on a cluster. `urls` begins with the coordinator. Returns a function
 * that restores the previous server.
 */
export function serveTests(urls: readonly string[]): () => void {
  const before: [string, string] = [process.env["TEST_DATABASE_URL"] ?? "", process.env["TEST_CITUS"] ?? ""];
  setServers([urls[0] ?? "", urls.join(",")]);
  return () => setServers(before);
}

function setServers([url, cluster]: [string, string]): void {
  process.env["TEST_DATABASE_URL"] = url;
  process.env["TEST_CITUS"] = cluster;
}

/** Runs statements as superuser in one database of a server. */
export async function inDatabase<Result>(
  server: string,
  database: string,
  run: (sql: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const url = new URL(server);
  url.pathname = `/${database}`;
  const sql = postgres(url.href, { max: 1, onnotice: () => {} });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Creates a database on all servers and registers the workers as its nodes. */
export async function createCitusDatabase(
  urls: readonly string[],
  { name, owner }: { name: string; owner: string },
): Promise<void> {
  for (const url of urls) {
    await inDatabase(url, "postgres", (sql) => sql.unsafe(`create database ${name} owner ${owner}`));
    await inDatabase(url, name, (sql) => sql`create extension citus`);
  }
  const [coordinator = "", ...workers] = urls;
  await inDatabase(coordinator, name, async (sql) => {
    const { hostname, port } = new URL(coordinator);
    await sql`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
    for (const worker of workers.map((url) => new URL(url))) {
      await sql`select citus_add_node(${worker.hostname}, ${Number(worker.port)})`;
    }
  });
}
