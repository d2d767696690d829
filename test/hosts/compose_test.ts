/** The scripts of `deploy/compose/` and the commands of its services, against a real PostgreSQL but without Docker. */
import { expect, test } from "bun:test";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { parse } from "yaml";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { runCommand } from "../helpers/process/command.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PATH = [process.env["TEST_POSTGRES_BIN"], process.env["PATH"]].filter(Boolean).join(":");

interface Service {
  entrypoint: string[];
  command: string[];
  environment: Record<string, string>;
  secrets: { source: string; target: string }[];
}

/** Runs a service as its container would, with other arguments if given; Compose reads `$$` as `$`. */
async function runService(
  name: string,
  { secrets, host, args }: { secrets: string; host: string; args?: string[] },
) {
  const text = await Bun.file(join(REPOSITORY, "deploy/compose/compose.yaml")).text();
  const service: Service = parse(text, { merge: true }).services[name];
  const [secret] = service.secrets;
  if (!secret) throw new Error(`Cannot run ${name}: it has no secret`);
  const entrypoint = service.entrypoint.map((word) =>
    word
      .replaceAll("$$", "$")
      .replace(`/run/secrets/${secret.target}`, join(secrets, secret.source))
      .replace("postgres:5432", host),
  );
  const [, ...own] = service.command;
  const command = [process.execPath, ...(args ?? own)];
  const [DATABASE_ROLE = ""] = [service.environment["DATABASE_ROLE"]];
  return runCommand(["env", "-C", REPOSITORY, ...entrypoint, ...command], { env: { PATH, DATABASE_ROLE } });
}

async function readSecrets(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map((name) => Bun.file(join(folder, name)).text()));
}

test("the scripts make passwords, roles and a database with which migrations and processes work", async () => {
  const directory = await mkdtemp(join(tmpdir(), "ulr-compose-"));
  await using server = new OwnServer();
  try {
    await cp(join(REPOSITORY, "deploy/compose"), directory, { recursive: true });
    const secrets = join(directory, "secrets");
    await rm(secrets, { recursive: true, force: true });
    const makeSecrets = () => runCommand([join(directory, "make-secrets.sh")]);
    expect(await makeSecrets()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const made = await readSecrets(secrets);
    expect(made).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{48}$/)));
    expect(new Set(made).size).toBe(3);
    await makeSecrets();
    expect(await readSecrets(secrets)).toEqual(made);

    const url = new URL(await server.start());
    const admin = postgres(new URL("/postgres", url).href, { max: 1, onnotice: () => {} });
    // A new server of Docker has neither.
    await admin.unsafe("drop database ulr");
    for (const role of ["ulr_owner", "ulr_app"]) {
      await admin.unsafe(`drop owned by ${role}`);
      await admin.unsafe(`drop role ${role}`);
    }
    await admin.end();
    const roles = await runCommand([join(directory, "roles.sh")], {
      env: {
        PATH,
        SECRETS: secrets,
        POSTGRES_USER: url.username,
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGPASSWORD: url.password,
        PGDATABASE: "postgres",
      },
    });
    expect([roles.exitCode, roles.stderr]).toEqual([0, ""]);
    const place = { secrets, host: url.host };
    const migrate = await runService("migrate", place);
    expect([migrate.exitCode, migrate.stderr]).toEqual([0, expect.stringContaining("Applied")]);
    const list = ["api/admin/main.ts", "org", "list", "--json"];
    for (const name of ["api-1", "jobs", "catalog-sync"]) {
      const { exitCode, stdout, stderr } = await runService(name, { ...place, args: list });
      expect([name, exitCode, stdout.trim(), stderr]).toEqual([name, 0, '{"organizations":[]}', ""]);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 60_000);
