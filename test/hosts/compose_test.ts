/** The scripts of `deploy/compose/` and its services' commands, with a real PostgreSQL but without Docker. */
import { expect, test } from "bun:test";
import { chmod, cp, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import postgres from "postgres";
import { parse } from "yaml";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { runCommand } from "../helpers/process/command.ts";
import { DEBIAN_POSTGRES_BIN } from "./debian_postgres.ts";
import { readCommands } from "./deploying_page.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PATH = [DEBIAN_POSTGRES_BIN, process.env["PATH"]].join(":");

interface Service {
  command: string[];
  environment: Record<string, string>;
  secrets: { source: string; target: string }[];
}

interface Place {
  /** The folder with the files that `make-secrets.sh` wrote. */
  secrets: string;
  /** PostgreSQL's address and port. */
  host: string;
}

/** Runs the command of a service, or another program of the image, with the service's secret. */
async function runService(name: string, { secrets, host }: Place, args?: string[]) {
  const text = await Bun.file(join(REPOSITORY, "deploy/compose/compose.yaml")).text();
  const { command, environment, secrets: used }: Service = parse(text, { merge: true }).services[name];
  const [secret] = used;
  expect(environment["DATABASE_URL_FILE"]).toBe(`/run/secrets/${secret?.target}`);
  const url = await Bun.file(join(secrets, secret?.source ?? "-")).text();
  const file = join(secrets, "database_url");
  await Bun.write(file, url.replace("postgres:5432", host));
  const [, ...own] = command;
  const env = { PATH, DATABASE_URL_FILE: file };
  return runCommand(["env", "-C", REPOSITORY, process.execPath, ...(args ?? own)], { env });
}

async function readSecrets(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const read = (name: string) => Bun.file(join(folder, name)).text();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)])));
}

/** A `docker` function that runs the page's container commands on this machine and skips starting and stopping containers. */
const IN_CONTAINERS = `
docker() {
  case "$*" in
    "compose down" | "compose up "*) ;;
    "compose exec -T postgres "*) shift 4; "$@" ;;
    "compose exec jobs bun "*) shift 4; (cd "$REPOSITORY" && bun "$@") ;;
    *) echo "unexpected: docker $*" >&2; return 1 ;;
  esac
}
`;

test("migrations, processes and backups work with the passwords, roles and database created by the Compose scripts", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-compose-"));
  await using server = new OwnServer({ binDirectory: DEBIAN_POSTGRES_BIN });
  try {
    await cp(join(REPOSITORY, "deploy/compose"), directory, { recursive: true });
    const secrets = join(directory, "secrets");
    await rm(secrets, { recursive: true, force: true });
    const makeSecrets = () => runCommand([join(directory, "make-secrets.sh")]);
    expect(await makeSecrets()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const made = await readSecrets(secrets);
    const password = expect.stringMatching(/^[0-9a-f]{48}$/);
    expect(made).toEqual({
      app_password: password,
      app_url: `postgres://ulr_app:${made["app_password"]}@postgres:5432/ulr\n`,
      owner_password: password,
      owner_url: `postgres://ulr_owner:${made["owner_password"]}@postgres:5432/ulr\n`,
      postgres_password: password,
      "tls.crt": expect.stringContaining("BEGIN CERTIFICATE"),
      "tls.key": expect.stringContaining("PRIVATE KEY"),
    });
    expect(new Set(Object.values(made)).size).toBe(7);
    // The files are writable by their owner, who can replace the certificate with `cp`.
    for (const name of Object.keys(made)) expect((await stat(join(secrets, name))).mode & 0o777).toBe(0o644);
    await makeSecrets();
    expect(await readSecrets(secrets)).toEqual(made);

    const url = new URL(await server.start());
    const admin = postgres(new URL("/postgres", url).href, { max: 1, onnotice: () => {} });
    // A new PostgreSQL container has neither this database nor these roles.
    await admin.unsafe("drop database ulr");
    for (const role of ["ulr_owner", "ulr_app"]) {
      await admin.unsafe(`drop owned by ${role}`);
      await admin.unsafe(`drop role ${role}`);
    }
    await admin.end();
    const inPostgres = { PATH, PGHOST: url.hostname, PGPORT: url.port, PGPASSWORD: url.password };
    const roles = await runCommand([join(directory, "roles.sh")], {
      env: { ...inPostgres, SECRETS: secrets, POSTGRES_USER: url.username, PGDATABASE: "postgres" },
    });
    expect([roles.exitCode, roles.stderr]).toEqual([0, ""]);
    const place = { secrets, host: url.host };
    const migrate = await runService("migrate", place);
    expect([migrate.exitCode, migrate.stderr]).toEqual([0, expect.stringContaining("Applied")]);
    const list = ["api/admin/main.ts", "org", "list", "--json"];
    for (const name of ["api-1", "jobs", "catalog-sync"]) {
      const { exitCode, stdout, stderr } = await runService(name, place, list);
      expect([name, exitCode, stdout.trim(), stderr]).toEqual([name, 0, '{"organizations":[]}', ""]);
    }

    const create = ["api/admin/main.ts", "org", "create", "--slug", "acme", "--name", "Acme"];
    expect(await runService("jobs", place, create)).toMatchObject({ exitCode: 0 });
    const env = {
      ...inPostgres,
      REPOSITORY,
      DATABASE_URL_FILE: join(secrets, "database_url"),
      ARTIFACT_URL: pathToFileURL(join(directory, "artifacts")).href,
    };
    const paste = async (heading: string, more: Record<string, string> = {}) => {
      const script = `cd ${directory}\n${IN_CONTAINERS}${await readCommands(heading)}`;
      return runCommand(["bash", "-c", script], { env: { ...env, ...more } });
    };
    expect(await paste("Back up with Compose")).toMatchObject({ exitCode: 0 });
    const dump = Bun.file(join(directory, "ulr.dump"));
    const bytes = await dump.bytes();
    // A failed backup keeps the old dump, and a truncated dump does not change the database.
    expect((await paste("Back up with Compose", { PGPORT: "1" })).exitCode).not.toBe(0);
    expect(await dump.bytes()).toEqual(bytes);
    expect(
      await runService("jobs", place, [...create.slice(0, 4), "later", "--name", "Later"]),
    ).toMatchObject({ exitCode: 0 });
    await Bun.write(dump, bytes.subarray(0, bytes.length / 2));
    expect((await paste("Restore with Compose")).exitCode).not.toBe(0);
    const kept = await runService("api-1", place, list);
    expect(JSON.parse(kept.stdout).organizations).toMatchObject([{ slug: "later" }, { slug: "acme" }]);
    await Bun.write(dump, bytes);
    expect(await paste("Restore with Compose")).toMatchObject({ exitCode: 0 });
    const restored = await runService("api-1", place, list);
    expect(JSON.parse(restored.stdout).organizations).toMatchObject([{ slug: "acme" }]);
    expect(await runService("migrate", place, ["api/admin/main.ts", "migrate"])).toMatchObject({
      exitCode: 0,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("PostgreSQL under Compose reads the settings in its volume and in deploy/postgresql.conf", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-compose-postgres-"));
  const path = join(directory, "compose.conf");
  await using server = new OwnServer({ settings: { config_file: path } });
  try {
    await chmod(directory, 0o755);
    const shipped = join(directory, "postgresql.conf");
    await cp(join(REPOSITORY, "deploy/postgresql.conf"), shipped);
    const text = await Bun.file(join(REPOSITORY, "deploy/compose/postgresql.conf")).text();
    await Bun.write(
      path,
      text
        .replace("/var/lib/postgresql/data/", `${server.directory}/postgres/`)
        .replace("/etc/ulr/postgresql.conf", shipped),
    );
    const sql = postgres(await server.start(), { max: 1 });
    const rows = await sql<{ name: string }[]>`select name from pg_settings where sourcefile = ${shipped}`;
    const [volume] = await sql`
      select count(*)::int as settings from pg_settings where sourcefile like '%/postgres/postgresql.conf'`;
    await sql.end();
    const names = (await Bun.file(shipped).text()).match(/^[a-z_]+(?= = )/gm) ?? [];
    // The tests' command line overrides the number of connections.
    const fromFile = names.filter((name) => name !== "max_connections");
    expect(fromFile.length).toBeGreaterThan(4);
    expect(rows.map(({ name }) => name).filter((name) => name !== "max_connections")).toEqual(
      fromFile.sort(),
    );
    expect(volume?.["settings"]).toBeGreaterThan(5);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
