/** Opens the PostgreSQL server for a test run: a temporary server, or the server in TEST_DATABASE_URL. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../../../deploy/local/bootstrap.ts";
import { SUPERUSER, startEmbeddedPostgres } from "../../../deploy/local/embedded_postgres.ts";
import { openSupervisor, type Supervisor } from "../../../deploy/local/supervisor.ts";
import { makeClusterFolder, removeCluster } from "./cluster_folder.ts";

/** Settings that allow many sessions and trade durability for speed. Test data need not survive a crash. */
export const TEST_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "400",
  max_prepared_transactions: "10",
  max_wal_size: "4GB",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

export interface TestServer extends AsyncDisposable {
  /** A superuser's URL; empty if no server was requested. */
  url: string;
  supervisor: Supervisor;
  /** A folder that is deleted with the server. */
  directory: string;
}

/** Deletes a server's folder. First stops a server that still runs on the folder's cluster. */
export function removeDirectory(directory: string): void {
  removeCluster(join(directory, "postgres"));
  rmSync(directory, { recursive: true, force: true });
}

/**
 * Returns TEST_DATABASE_URL if it is set. Otherwise starts a server, with the programs in TEST_POSTGRES_BIN if that is
 * set.
 */
async function openUrl({ env, step }: Command, supervisor: Supervisor, directory: string): Promise<string> {
  const given = env["TEST_DATABASE_URL"];
  if (given) return given;
  const binDirectory = env["TEST_POSTGRES_BIN"] || undefined;
  return step("Starting PostgreSQL for the tests", async (note) => {
    const server = await startEmbeddedPostgres({
      supervisor,
      dataDirectory: directory,
      settings: TEST_SETTINGS,
      hasSuperuser: true,
      binDirectory,
    });
    note(`PostgreSQL ${server.majorVersion}`);
    return server.urls[SUPERUSER];
  });
}

/** Opens the server. Disposal stops everything that the server's supervisor started. */
export async function openTestServer(
  command: Command,
  { onDisk = false, hasDatabase = true } = {},
): Promise<TestServer> {
  const directory = makeClusterFolder("test", { onDisk });
  const supervisor = openSupervisor(command);
  const dispose = async () => {
    await supervisor[Symbol.asyncDispose]();
    removeDirectory(directory);
  };
  try {
    return {
      url: hasDatabase ? await openUrl(command, supervisor, directory) : "",
      supervisor,
      directory,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
