/**
 * Runs a PostgreSQL server with TLS for one test, with certificates from the test's own certificate authorities (CAs).
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { openPool, type Pool } from "../../../sql/connection/pool.ts";
import { makeAuthority, makeServerCertificate } from "../network/certificates.ts";
import { waitFor } from "../wait_for.ts";
import { OwnServer } from "./own_server.ts";

export interface TlsServer extends AsyncDisposable {
  /** A superuser's URL without parameters. */
  url: string;
  /** The certificate file of the CA that signs the server's certificates. */
  authority: string;
  /** The certificate file of another CA. */
  otherAuthority: string;
  /** Installs a new server certificate for these names, and turns on TLS. */
  install(names: string, options?: { days?: number }): Promise<void>;
  /** Makes the server accept only TLS connections over TCP. */
  requireTls(): Promise<void>;
}

async function withConnection<Result>(url: string, act: (sql: Pool) => Promise<Result>): Promise<Result> {
  const sql = openPool(url, { applicationName: "test-tls", max: 1 });
  try {
    return await act(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Changes the configuration, and waits until the change applies to new connections. */
async function reload(url: string, configure: (sql: Pool) => Promise<void> | void): Promise<void> {
  const before = await withConnection(url, async (sql) => {
    await configure(sql);
    const [row] = await sql<[{ at: string }]>`select pg_conf_load_time()::text as at, pg_reload_conf()`;
    return row.at;
  });
  const isLoaded = (sql: Pool) => sql`select where pg_conf_load_time() > ${before}::text::timestamptz`;
  await waitFor(async () => (await withConnection(url, isLoaded)).length > 0);
}

/**
 * Installs a new server certificate for these names, signed by `authority`, and turns on TLS. `url` must be a
 * superuser's.
 */
export async function installCertificate(
  url: string,
  authority: string,
  names: string,
  options?: { days?: number },
): Promise<void> {
  const made = await makeServerCertificate(authority, names, options);
  await reload(url, async (sql) => {
    const [{ directory }] = await sql<[{ directory: string }]>`
      select current_setting('data_directory') as directory`;
    const { uid, gid } = statSync(join(directory, "PG_VERSION"));
    const certPath = join(directory, basename(made.certPath));
    const keyPath = join(directory, basename(made.keyPath));
    copyFileSync(made.certPath, certPath);
    copyFileSync(made.keyPath, keyPath);
    chmodSync(keyPath, 0o600);
    chownSync(keyPath, uid, gid);
    await sql.unsafe(`alter system set ssl_cert_file = '${certPath}'`);
    await sql.unsafe(`alter system set ssl_key_file = '${keyPath}'`);
    await sql.unsafe("alter system set ssl = on");
  });
}

/** Starts a server that has no TLS until `install` is called. `await using` stops the server. */
export async function openTlsServer(): Promise<TlsServer> {
  const server = new OwnServer();
  const url = await server.start();
  const { directory } = server;
  const cluster = realpathSync(join(directory, "postgres"));
  const authority = await makeAuthority(directory, "authority");
  return {
    url,
    authority,
    otherAuthority: await makeAuthority(directory, "other"),
    install: (names, options) => installCertificate(url, authority, names, options),
    async requireTls() {
      const path = join(cluster, "pg_hba.conf");
      const text = readFileSync(path, "utf8");
      await reload(url, () => writeFileSync(path, text.replace(/^host\b/gm, "hostssl")));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
