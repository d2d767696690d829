/** A test's own PostgreSQL that listens on a network, with the settings of `deploy/postgresql.conf`. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCluster, SUPERUSER, startServer } from "../../deploy/local/embedded_postgres.ts";
import { openSupervisor } from "../../deploy/local/supervisor.ts";
import { makeClusterFolder } from "../helpers/postgres/cluster_folder.ts";
import { removeDirectory } from "../helpers/postgres/server.ts";

const CONFIGURATION = new URL("../../deploy/postgresql.conf", import.meta.url);

export interface LanPostgres extends AsyncDisposable {
  /** The URL of a superuser. */
  url: string;
}

/** Starts a server on an address of this machine that accepts connections from the network; `await using` stops it. */
export async function startLanPostgres(given: {
  address: string;
  network: string;
  settings?: Readonly<Record<string, string>>;
  binDirectory?: string;
}): Promise<LanPostgres> {
  const root = makeClusterFolder("lan");
  const supervisor = openSupervisor({ force: new AbortController().signal });
  const dispose = async () => {
    await supervisor[Symbol.asyncDispose]();
    removeDirectory(root);
  };
  try {
    const binDirectory = given.binDirectory ?? (process.env["TEST_POSTGRES_BIN"] || undefined);
    const cluster = await openCluster(supervisor, join(root, "postgres"), { isDurable: false, binDirectory });
    writeFileSync(join(cluster.path, "pg_hba.conf"), `host all all ${given.network} trust\n`);
    appendFileSync(join(cluster.path, "postgresql.conf"), readFileSync(CONFIGURATION));
    const settings = { fsync: "off", listen_addresses: given.address, ...given.settings };
    const { port } = await startServer(cluster, join(root, "postgres.log"), settings);
    return { url: `postgres://${SUPERUSER}@${given.address}:${port}/ulr`, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
