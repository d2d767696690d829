/** Tests that all processes and commands report the same message if the database is unavailable or rejects the connection. */
import { expect, test } from "bun:test";
import { runCommand } from "../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { type ServiceProcess, spawnService } from "../../helpers/process/service_process.ts";

const FOLDERS = ["api", "jobs", "catalog-sync"] as const;

/** Returns the messages that every process logs and `admin` prints before exiting with code 1. */
async function listFailures(url: string): Promise<string[]> {
  const read = async (folder: (typeof FOLDERS)[number]) => {
    await using service: ServiceProcess = spawnService(folder, { DATABASE_URL: url });
    expect([folder, await service.exited]).toEqual([folder, 1]);
    return service.problems();
  };
  const admin = await runCommand(url, ["org", "list"]);
  expect(admin.exitCode).toBe(1);
  return [...(await Promise.all(FOLDERS.map(read))), admin.err];
}

test("reports an unavailable database with the same line in every process and command", async () => {
  const failures = await listFailures("postgres://app:pass-word@127.0.0.1:1/none");
  expect(new Set(failures)).toEqual(
    new Set(["Cannot reach the database: connect ECONNREFUSED 127.0.0.1:1\n"]),
  );
});

test("reports a missing database and a wrong password in the same way in every process and command", async () => {
  await using db = await openTestDatabase();
  const missing = new URL(db.url);
  missing.pathname = "/missing";
  const failures = await listFailures(missing.href);
  expect(new Set(failures)).toEqual(
    new Set(['Cannot open the database: database "missing" does not exist\n']),
  );
  const wrong = new URL(db.url);
  wrong.password = "wrong";
  for (const failure of new Set(await listFailures(wrong.href))) {
    expect(failure).toMatch(/^Cannot open the database: password authentication failed for user "[^"]+"\n$/);
  }
});
