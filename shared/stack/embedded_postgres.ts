/** A real PostgreSQL of our own: from npm's binaries, on a free port of this machine, behind a random password. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPostgresBinaries } from "./postgres_binaries.ts";
import { openPostgresDirectory } from "./postgres_directory.ts";
import { HOST, type PostgresProfile, startPostgresServer } from "./postgres_server.ts";
import { createCluster, SUPERUSER, setPassword } from "./postgres_setup.ts";
import { clearLeftoverServer } from "./postmaster.ts";
import type { Child, RunAs, Supervisor } from "./supervisor.ts";

const DATABASE = "ulr";

export interface EmbeddedPostgresOptions {
  supervisor: Supervisor;
  /** Holds `postgres/` (the files), `database-url.txt` and `logs/postgres.log`. */
  dataDirectory: string;
  profile: PostgresProfile;
  /** Where `initdb` and `postgres` are, when not in the npm package. */
  binDirectory?: string | undefined;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  url: string;
  server: Child;
  majorVersion: number;
}

/** Where the URL with the password is kept, for the next start and for a person's `psql`; mode 0600. */
export function databaseUrlPath(dataDirectory: string): string {
  return join(dataDirectory, "database-url.txt");
}

function readKeptUrl(path: string): URL | null {
  try {
    return new URL(readFileSync(path, "utf8").trim());
  } catch {
    return null;
  }
}

function writeUrl(path: string, password: string, port: number): string {
  const url = `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${DATABASE}`;
  rmSync(path, { force: true });
  writeFileSync(path, `${url}\n`, { mode: 0o600 });
  return url;
}

/**
 * Starts PostgreSQL on the files in `dataDirectory`, which it makes the first time, and waits until it accepts
 * connections. The caller has made sure that nobody else uses that directory. Dispose it to stop the server.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { supervisor, dataDirectory, profile } = options;
  mkdirSync(dataDirectory, { recursive: true });
  const urlPath = databaseUrlPath(dataDirectory);
  const prepare = (runAs: RunAs | undefined) => ({
    supervisor,
    runAs,
    binaries: findPostgresBinaries(runAs, options.binDirectory),
  });
  const directory = await openPostgresDirectory(join(dataDirectory, "postgres"), async ({ path, runAs }) => {
    await createCluster(path, DATABASE, { ...prepare(runAs), durable: profile === "service" });
    // An old file would name another cluster's password.
    rmSync(urlPath, { force: true });
  });
  await clearLeftoverServer(directory.path);
  const cluster = prepare(directory.runAs);
  const kept = readKeptUrl(urlPath);
  const password = kept?.password || randomBytes(24).toString("hex");
  if (!kept?.password) await setPassword(directory.path, password, cluster);
  const { server, port } = await startPostgresServer(
    { ...cluster, directory, profile, logPath: join(dataDirectory, "logs", "postgres.log") },
    Number(kept?.port ?? 0),
  );
  return {
    url: writeUrl(urlPath, password, port),
    server,
    majorVersion: cluster.binaries.majorVersion,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
