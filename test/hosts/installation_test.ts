/**
 * The life cycle of an installation by ordinary roles, with the commands of docs/operating.md. Uses Debian's
 * PostgreSQL if it is installed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import postgres from "postgres";
import { openPool, type Pool } from "../../sql/connection/pool.ts";
import { type Client, downloadJob, getJob, jobOf, postJob } from "../helpers/exports/export_job.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../helpers/exports/export_project.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { OwnServer } from "../helpers/postgres/own_server.ts";
import { startApi } from "../helpers/process/api_process.ts";
import { runCommand } from "../helpers/process/command.ts";
import { spawnRunner, startRunner } from "../helpers/process/runner_process.ts";
import { type ServiceProcess, untilLogged } from "../helpers/process/service_process.ts";
import { waitFor } from "../helpers/wait_for.ts";
import { DEBIAN_POSTGRES_BIN } from "./debian_postgres.ts";
import { LATER, makeNewerRelease } from "./newer_release.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const page = await Bun.file(join(REPOSITORY, "docs/operating.md")).text();
const server = new OwnServer({ binDirectory: DEBIAN_POSTGRES_BIN });
let directory: string;
/** The environment variables of the page's commands. */
let env: Record<string, string>;
/** A connection pool of the service's role. */
let sql: Pool;
let exported: ExportProject;

/** Returns a section's code blocks in one language. */
function readBlocks(heading: string, language: "sh" | ""): string[] {
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}\n`, "m"));
  const [text = ""] = section.split(/^#/m);
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , block = ""]) => block);
}

/** Runs a section's commands in the repository. */
async function run(heading: string, { stdin = "", more = {}, root = REPOSITORY } = {}) {
  const blocks = readBlocks(heading, "sh");
  if (blocks.length === 0) throw new Error(`Cannot find commands below "${heading}" in docs/operating.md`);
  const script = `cd ${root}\n${blocks.join("")}`;
  return runCommand(["bash", "-euo", "pipefail", "-c", script], {
    env: { ...env, ...more },
    stdin: Buffer.from(stdin),
  });
}

/** Runs a section's commands and returns their output. Throws if they fail. */
async function succeed(heading: string, options: Parameters<typeof run>[1] = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await run(heading, options);
  if (exitCode !== 0) throw new Error(`Cannot run "${heading}": ${stderr}${stdout}`);
  return stdout;
}

/** Reads the variables at the top of the page, and replaces the host with the test server's. */
function readVariables(host: string): Record<string, string> {
  const text = page.slice(0, page.indexOf("\n## "));
  const found = [...text.matchAll(/^export (\w+)=(.*)$/gm)];
  return Object.fromEntries(
    found.map(([, name = "", value = ""]) => [name, value.replace("@db.internal/", `@${host}/`)]),
  );
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ulr-operating-"));
  const url = new URL(await server.start());
  const admin = postgres(new URL("/postgres", url).href, { max: 1, onnotice: () => {} });
  // A new server does not have this database or these roles.
  await admin.unsafe("drop database ulr");
  for (const role of ["ulr_owner", "ulr_app"]) await admin.unsafe(`drop owned by ${role}; drop role ${role}`);
  // Simulates a machine with the locale C, where the default encoding of new databases is not UTF8.
  await admin.unsafe("alter database template1 is_template false");
  await admin.unsafe("drop database template1");
  await admin.unsafe("create database template1 template template0 encoding 'SQL_ASCII' locale 'C'");
  await admin.end();
  env = {
    PATH: [dirname(process.execPath), DEBIAN_POSTGRES_BIN, process.env["PATH"]].join(":"),
    ...readVariables(url.host),
    DUMP: join(directory, "ulr.dump"),
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGUSER: url.username,
    PGPASSWORD: url.password,
  };
});

afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/**
 * Returns the environment variables of a process. Each database has its own artifact folder unless `artifacts` names
 * another.
 */
function processEnv(database: "APP_URL" | "COPY_URL", artifacts = database): Record<string, string> {
  return {
    DATABASE_URL: env[database] ?? "",
    DATA_DIR: join(directory, database),
    ARTIFACT_URL: pathToFileURL(join(directory, "artifacts", artifacts)).href,
    CATALOG_SOURCE: "bundled",
  };
}

async function listFiles(artifacts = "APP_URL"): Promise<string[]> {
  const names = await readdir(join(directory, "artifacts", artifacts)).catch(() => []);
  return names.filter((name) => name.endsWith(".zip"));
}

/** Exports the organization and returns the job's id. */
async function exportOrg(client: Client): Promise<string> {
  const { person } = exported;
  const { id } = await jobOf(await postJob(client, person));
  await waitFor(async () => (await getJob(client, person.key, id)).status === "ready");
  return id;
}

/** The secret of Ann's authenticator app, and a word that all her other identifying data and credentials contain. */
const ANN = { secret: "annssecretbytes", word: "quince" };
/** Tables whose rows about Ann are kept on purpose, according to the page. */
const KEPT = ["audit_log"];

/** Inserts rows about Ann into every table that the page's recipes clear. */
async function addTraces(): Promise<void> {
  const email = `${ANN.word}@example.com`;
  const secret = Buffer.from(ANN.secret);
  const hash = Buffer.alloc(32, 1);
  const [ann] = await sql`
    update users set name = ${ANN.word}, bio = ${ANN.word}, email = ${email} where username = 'ann'
    returning id`;
  const userId = ann?.["id"];
  const orgId = exported.person.org.id;
  await sql`
    update organizations
    set name = ${ANN.word}, description = ${ANN.word}, website_url = ${`https://${ANN.word}.example`}
    where is_personal and slug = 'ann'`;
  await sql`
    insert into sessions (user_id, token_hash, expires_at, user_agent)
    values (${userId}, ${hash}, now() + interval '1 day', ${ANN.word})`;
  await sql`
    insert into second_factors (user_id, kind, name, secret, last_step)
    values (${userId}, 'totp', ${ANN.word}, ${secret}, 0)`;
  await sql`insert into recovery_codes (user_id, code_hash) values (${userId}, ${hash})`;
  await sql`
    insert into factor_challenges (user_id, purpose, session_id, secret, expires_at)
    select user_id, 'add_totp', id, ${secret}, expires_at from sessions where user_id = ${userId}`;
  await sql`insert into sign_in_networks (user_id, network) values (${userId}, ${ANN.word})`;
  await sql`
    insert into api_keys (user_id, name, prefix, key_hash)
    values (${userId}, ${ANN.word}, 'ulr_1234', ${hash})`;
  await sql`insert into account_mails (kind, email, user_id) values ('verify_email', ${email}, ${userId})`;
  await sql`insert into account_mails (kind, email) values ('sign_up', ${email.toUpperCase()})`;
  await sql`
    insert into organization_invitations (org_id, email, role, invited_by)
    values (${orgId}, ${email}, 'viewer', ${exported.person.user.id})`;
  await sql`
    insert into idempotency_keys (caller, key, fingerprint, request_id, locked_until, status, headers, body)
    values
      (${userId}, 'k', ${hash}, gen_random_uuid(), now(), 201, '{}', ${ANN.word}),
      ('who-invited', 'k', ${hash}, gen_random_uuid(), now(), 201, '{}', ${JSON.stringify({ email })})`;
}

/** Lists the tables, except those in `KEPT`, that still have a row with Ann's word or secret. */
async function listTraces(url: string): Promise<string[]> {
  const owner = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const tables = await owner`select relname as name from pg_stat_user_tables where schemaname = 'public'`;
    const found: string[] = [];
    for (const { name } of tables) {
      const hex = Buffer.from(ANN.secret).toString("hex");
      const rows = await owner`
        select from ${owner(name)} r
        where to_jsonb(r)::text ~* ${`${ANN.word}|${hex}`} limit 1`;
      if (rows.length > 0) found.push(name);
    }
    return found.filter((name) => !KEPT.includes(name)).sort();
  } finally {
    await owner.end();
  }
}

/** Installs the service with an ordinary role and checks that it works. */
async function install(): Promise<void> {
  await succeed("Roles and database");
  const checked = await run("Check");
  expect(checked.exitCode).toBe(1);
  expect(checked.stderr).toContain(readBlocks("Check", "")[0] ?? "nothing");
  await succeed("Grants");
  expect(await succeed("Check")).toBe("No problems found.\n");
  const migrated = await succeed("Tables");
  expect(migrated).toMatch(/^Applied \d+ migrations\. The database is up to date\.\napplied {2}/);
  expect(migrated).not.toContain("pending");
  expect(await succeed("First account", { stdin: "seven quiet lamps" })).toContain("ann@example.com");

  const settings = { "ulr.backfill": "on" };
  sql = openPool(env["APP_URL"] ?? "", { applicationName: "test", max: 2, settings });
  await expect(Promise.resolve(sql`create table extra ()`)).rejects.toThrow("permission denied");
  exported = await makeExportProject({ make: createFactory(sql) });
  await sql`
    insert into webhooks (org_id, url, types, secret, position)
    values (${exported.person.org.id}, 'https://ci.example.com/hook', '{export.ready}', 'whsec_production', 0)`;
  await addTraces();
  expect(await listTraces(env["OWNER_URL"] ?? "")).toEqual([
    "account_mails",
    "api_keys",
    "factor_challenges",
    "idempotency_keys",
    "organization_invitations",
    "organizations",
    "second_factors",
    "sessions",
    "sign_in_networks",
    "users",
  ]);
  await using api = await startApi(processEnv("APP_URL"));
  await using _runner = await startRunner(processEnv("APP_URL"));
  expect((await exportDataset(api, exported, "issues")).status).toBe(200);
  await exportOrg(api);
  expect(await listFiles()).toHaveLength(1);
}

function listEvents(service: ServiceProcess, event: string) {
  return service.logLines().filter((line) => line["event"] === event);
}

/** Restores a backup next to the original. Checks that the copy takes over the artifact store only on request. */
async function restoreBeside(): Promise<void> {
  await using api = await startApi(processEnv("APP_URL"));
  await using runner = await startRunner(processEnv("APP_URL"));
  const id = await exportOrg(api);
  await succeed("Growth");
  await succeed("Expire exports early");
  await succeed("Back up");
  expect(await succeed("Restore")).toContain("No problems found.");

  const shared = processEnv("COPY_URL", "APP_URL");
  await using copy = await startApi(shared);
  await using copyRunner = spawnRunner({ ...shared, METRICS_PORT: "0" });
  await waitFor(() => listEvents(copyRunner, "artifact_store.foreign").length > 0);
  expect(await (await copy.request("/health/ready")).text()).toContain('"artifacts":"owned-by-another"');
  const { port } = await untilLogged(copyRunner, "serving metrics");
  const readRunner = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  expect(await readRunner("/health/ready")).toBe(
    '{"data":{"status":"ready","artifacts":"owned-by-another"}}',
  );
  expect(await readRunner("/metrics")).toContain("\nartifact_store_owned 0\n");
  expect(await listFiles()).toHaveLength(2);
  const { key } = exported.person;
  expect((await downloadJob(api, key, id)).status).toBe(200);
  const exportRows = async (client: Client) =>
    (await exportDataset(client, exported, "issues", `?as_of=${AFTER_ALL}`)).text();
  const rows = await exportRows(api);
  expect(rows).not.toBe("");
  expect(await exportRows(copy)).toBe(rows);

  expect(await succeed("Take over the artifact store", { more: shared })).toContain('database "ulr_copy"');
  await waitFor(() => listEvents(copyRunner, "artifact_store.owned").length > 0);
  await waitFor(() => listEvents(runner, "artifact_store.foreign").length > 0);
  expect((await downloadJob(copy, key, id)).status).toBe(200);
  await waitFor(async () => (await readRunner("/metrics")).includes("\nartifact_store_owned 1\n"));
  await exportOrg(copy);
  expect(await listFiles()).toHaveLength(3);
}

/** Clears a staging copy. Checks that it has no credentials or personal data of the original. */
async function clearStagingCopy(): Promise<void> {
  await succeed("Staging copies");
  await using copy = await startApi(processEnv("COPY_URL"));
  const { key } = exported.person;
  expect((await copy.request("/api/v1/auth/me", { key })).status).toBe(401);
  const command = [process.execPath, join(REPOSITORY, "api/admin/main.ts"), "user", "list"];
  const { stdout } = await runCommand(command, { env: { DATABASE_URL: env["COPY_URL"] ?? "" } });
  expect(stdout).toContain("@staging.invalid");
  expect(stdout).not.toContain("@example.com");
  expect(await listTraces(env["COPY_OWNER_URL"] ?? "")).toEqual([]);
  const count = "select count(*) from (select from webhooks union all select from recovery_codes) rest";
  const query = ["psql", "-d", env["COPY_URL"] ?? "", "-Atc", count];
  expect((await runCommand(query, { env })).stdout).toBe("0\n");
}

/** Upgrades, and checks that the older release runs on the newer schema and sweeps expired exports. */
async function upgradeAndGoBack(): Promise<void> {
  await using newer = await makeNewerRelease("alter table issues add column release_note text;");
  const applied = await succeed("Tables", { root: newer.root });
  expect(applied).toMatch(/^Applied 1 migration\./);
  expect(applied).toMatch(new RegExp(`^applied .*${LATER}$`, "m"));

  await using api = await startApi(processEnv("APP_URL"));
  expect(listEvents(api, "schema.newer")).toHaveLength(1);
  expect((await exportDataset(api, exported, "issues")).status).toBe(200);
  expect(await succeed("Tables")).toContain("Nothing to apply: a newer release has migrated this database");

  await runCommand(["bash", "-c", `bun run admin artifacts adopt`], {
    env: { ...env, ...processEnv("APP_URL") },
  });
  const [old] = await sql`
    update export_jobs set
      ready_at = ready_at - interval '90 days', finished_at = finished_at - interval '90 days',
      expires_at = expires_at - interval '90 days'
    where id = (select id from export_jobs order by ready_at limit 1)
    returning artifact_key`;
  await using runner = await startRunner(processEnv("APP_URL"));
  await waitFor(() => listEvents(runner, "export_sweep.done").some(({ expired }) => expired === 1));
  expect(await listFiles()).not.toContain(old?.["artifactKey"]);
  expect(await listFiles()).toHaveLength(2);
}

/** Erases an account, and checks that its name and email are gone. */
async function eraseAccount(): Promise<void> {
  await succeed("Erasure");
  expect(await listTraces(env["OWNER_URL"] ?? "")).toEqual([]);
  expect(await sql`select from recovery_codes`).toHaveLength(0);
  expect(await sql`select from users where username = 'ann' or email like 'ann@%'`).toHaveLength(0);
  const [ann] = await sql`select name, disabled_at from users where username like 'erased-%'`;
  expect(ann).toEqual({ name: null, disabledAt: expect.any(String) });
}

/** Replaces the service's role with a second role while an API with each role serves requests. */
async function rotatePassword(): Promise<void> {
  await using old = await startApi(processEnv("APP_URL"));
  await succeed("A second role");
  const second = (env["APP_URL"] ?? "").replace("ulr_app:app-password", "ulr_app_2:second-password");
  expect(second).not.toBe(env["APP_URL"]);
  const secondEnv = { ...processEnv("APP_URL"), DATABASE_URL: second };
  await using api = await startApi(secondEnv);
  await using runner = await startRunner(secondEnv);
  for (const client of [old, api]) expect((await exportDataset(client, exported, "issues")).status).toBe(200);
  old.kill("SIGTERM");
  expect(await old.exited).toBe(0);
  await sql.end();
  const ended = await succeed("End the old password");
  expect(ended).toMatch(/sessions_left\s+-+\s+0\s/);
  await exportOrg(api);
  expect((await exportDataset(api, exported, "issues")).status).toBe(200);
  const list = ["bash", "-c", "bun run admin org list"];
  const withOld = await runCommand(list, { env: { ...env, DATABASE_URL: env["APP_URL"] ?? "" } });
  expect([withOld.exitCode, withOld.stderr]).toEqual([1, expect.stringContaining("ulr_app")]);
  const withNew = await runCommand(list, { env: { ...env, DATABASE_URL: second } });
  expect([withNew.exitCode, withNew.stderr]).toEqual([0, expect.anything()]);
  expect(listEvents(runner, "artifact_store.owned")).toHaveLength(1);
}

test("the commands in docs/operating.md install, back up, restore, clear a copy, upgrade, roll back, erase and rotate", async () => {
  await install();
  await restoreBeside();
  await clearStagingCopy();
  await upgradeAndGoBack();
  await eraseAccount();
  await rotatePassword();
});
