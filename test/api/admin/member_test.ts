import { expect, test } from "bun:test";
import type { Pool } from "../../../sql/connection/pool.ts";
import { createUser, runCommand, runFailing, runJson } from "../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { commitDuring } from "../../helpers/postgres/waiting_sessions.ts";

async function listActions(sql: Pool): Promise<string[]> {
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor_type = 'operator' order by id`;
  return rows.map((row) => row.action);
}

test("member add adds a member or changes the role, and member remove removes the member", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const words = ["--org", "acme", "--user", "ann"];
  for (const role of ["viewer", "publisher"]) {
    const member = await runJson(db.url, ["member", "add", ...words, "--role", role]);
    expect(member).toEqual({ org: "acme", user: "ann", role });
  }
  const removed = await runJson(db.url, ["member", "remove", ...words]);
  expect(removed).toEqual({ org: "acme", user: "ann", role: "publisher" });
  expect(await runFailing(db.url, ["member", "remove", ...words])).toContain("not a member of organization");
  expect(
    await runFailing(db.url, ["member", "add", "--org", "acme", "--user", "bob", "--role", "viewer"]),
  ).toContain('User "bob" not found');
  expect(await listActions(db.sql)).toEqual([
    "user.create",
    "org.create",
    "member.add",
    "member.update",
    "member.remove",
  ]);
});

test("member add changes the role of a user who is concurrently accepting an invitation", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  await commitDuring(
    db,
    async (tx) => {
      await tx`select from organizations where slug = 'acme' for no key update`;
      await tx`
        insert into organization_members (org_id, user_id, role)
        select o.id, u.id, 'publisher'
        from organizations as o
        cross join users as u
        where o.slug = 'acme' and u.username = 'ann'`;
    },
    () => runJson(db.url, ["member", "add", "--org", "acme", "--user", "ann", "--role", "viewer"]),
  );
  expect((await listActions(db.sql)).at(-1)).toBe("member.update");
});

test("the last owner cannot be removed or get another role, including in a personal organization", async () => {
  await using db = await openTestDatabase();
  for (const name of ["ann", "bob"]) await createUser(db.url, name);
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const member = (verb: string, org: string, user: string, ...words: string[]) => [
    ...["member", verb, "--org", org, "--user", user],
    ...words,
  ];
  await runJson(db.url, member("add", "acme", "ann", "--role", "owner"));
  for (const [org, why] of [
    ["acme", "no other owner"],
    ["ann", "personal organization"],
  ] as const) {
    expect(await runFailing(db.url, member("remove", org, "ann"))).toContain(why);
    expect(await runFailing(db.url, member("add", org, "ann", "--role", "viewer"))).toContain(why);
  }
  expect(await runFailing(db.url, member("add", "ann", "bob", "--role", "owner"))).toContain("has one owner");
  await runJson(db.url, member("add", "acme", "bob", "--role", "owner"));
  await runJson(db.url, member("remove", "acme", "ann"));
});

test("member add notes that an organization has no owner", async () => {
  await using db = await openTestDatabase();
  await createUser(db.url, "ann");
  await runJson(db.url, ["org", "create", "--slug", "acme", "--name", "Acme"]);
  const words = ["member", "add", "--org", "acme", "--user", "ann", "--role", "viewer"];
  const { exitCode, err } = await runCommand(db.url, words);
  expect([exitCode, err]).toEqual([0, 'Note: organization "acme" has no owner\n']);
});
