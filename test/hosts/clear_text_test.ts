/** Every process warns about an unencrypted connection to a database on another machine, and only then. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand as runAdminCommand } from "../helpers/accounts/admin.ts";
import { makeAuthority } from "../helpers/network/certificates.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { installCertificate } from "../helpers/postgres/tls_server.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { runCommand } from "../helpers/process/command.ts";
import { startRunner } from "../helpers/process/runner_process.ts";
import type { ServiceProcess } from "../helpers/process/service_process.ts";
import { openLan } from "./lan.ts";
import { startLanPostgres } from "./lan_postgres.ts";
import { startPgBouncer } from "./pgbouncer.ts";

const CATALOG_SYNC = new URL("../../catalog-sync/main.ts", import.meta.url).pathname;

function listWarnings(service: ServiceProcess): unknown[] {
  return service
    .logLines()
    .filter(({ event }) => event === "database.clear_text")
    .map(({ level, message }) => ({ level, message }));
}

/** Runs the API, the job runner, a catalog sync and `migrate --status`, and returns the warnings of each. */
async function gatherWarnings(databaseUrl: string, env: Readonly<Record<string, string>>) {
  const given = { DATABASE_URL: databaseUrl, ...env };
  await using api = await startApi(given);
  await using runner = await startRunner(given);
  const sync = await runCommand([process.execPath, CATALOG_SYNC, "--once"], {
    env: { ...given, CATALOG_SOURCE: "bundled" },
  });
  const migrate = await runAdminCommand(databaseUrl, ["migrate", "--status"], env);
  return {
    api: listWarnings(api),
    jobs: listWarnings(runner),
    sync: sync.stderr,
    migrate: migrate.err,
  };
}

test("every process warns exactly once that its connection to a database on another machine is not encrypted", async () => {
  await using lan = await openLan();
  await using server = await startLanPostgres(lan);
  await using db = await openTestDatabase(server.url);
  const directory = await mkdtemp(join(tmpdir(), "ulr-clear-text-"));
  const env = { DATA_DIR: directory };
  try {
    const message = `The connection to PostgreSQL at ${lan.address} is not encrypted. Add sslmode=verify-full to the database URL.`;
    const warning = [{ level: "warn", message }];
    expect(await gatherWarnings(db.url, env)).toEqual({
      api: warning,
      jobs: warning,
      sync: `${message}\n`,
      migrate: `${message}\n`,
    });

    const authority = await makeAuthority(directory, "authority");
    await installCertificate(server.url, authority, `IP:${lan.address}`);
    const verified = `${db.url}?sslmode=verify-full&sslrootcert=${authority}`;
    expect((await runAdminCommand(verified, ["migrate", "--status"], env)).err).toBe("");
    // The unencrypted connection to the pooler causes the warning. The verified direct connection does not.
    await using pooler = await startPgBouncer(db.url, { address: lan.address });
    await using api = await startApi({ ...env, DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: verified });
    expect(listWarnings(api)).toEqual(warning);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
