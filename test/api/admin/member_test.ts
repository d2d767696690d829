import { expect, test } from "bun:test";
import type { Pool } from "../../../sql/connection/pool.ts";
import { createUser, runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

async function listActions(sql: Pool): Promise<string[]> {
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor_type = 'operator' order by id`;
  return rows.map((row) => row.action);
}

test("member add gives a role, again changes it, and member remove ends it", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const words = ["--org", "acme", "--user", "ann"];
  for (const role of ["owner", "publisher"]) {
    const member = await runJson(db.url, ["member", "add", ...words, "--role", role]);
    expect(member).toEqual({ org: "acme", user: "ann", role });
  }
  const removed = await runJson(db.url, ["member", "remove", ...words]);
  expect(removed).toEqual({ org: "acme", user: "ann", role: "publisher" });
  expect(await runFailing(db.url, ["member", "remove", ...words])).toContain("the user is not a member");
  expect(
    await runFailing(db.url, ["member", "add", "--org", "acme", "--user", "bob", "--role", "viewer"]),
  ).toContain('User "bob" not found');
  expect(await listActions(db.sql)).toEqual([
    "user.create",
    "org.create",
    "member.add",
    "member.add",
    "member.remove",
  ]);
});

test("member remove removes the last owner with a note, but no one from their personal organization", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  await runJson(db.url, ["member", "add", "--org", "acme", "--user", "ann", "--role", "owner"]);
  const { exitCode, err } = await runCommand(db.url, ["member", "remove", "--org", "acme", "--user", "ann"]);
  expect([exitCode, err]).toEqual([0, 'Note: organization "acme" has no owner\n']);
  for (const words of [["remove"], ["add", "--role", "viewer"]]) {
    expect(await runFailing(db.url, ["member", ...words, "--org", "ann", "--user", "ann"])).toContain(
      "personal organization",
    );
  }
});
