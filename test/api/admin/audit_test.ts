import { expect, test } from "bun:test";
import { COMMANDS } from "../../../api/admin/commands.ts";
import { runJson } from "../../helpers/accounts/admin.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const PASSWORD = "seven quiet lamps";

/** The commands that write, with their audit actions. Later commands use the results of earlier ones. */
const WRITES: readonly [words: string, action: string][] = [
  ["user create --username ann --email ann@example.com --password correct-horse", "user.create"],
  ["org create --slug acme --name Acme", "org.create"],
  ["org set-tier --org acme --tier pro", "org.set-tier"],
  ["member add --org acme --user ann --role publisher", "member.add"],
  ["user update --user ann --name Ann --platform-role admin", "user.update"],
  ["org update --org acme --website https://acme.example", "org.update"],
  ["key create --user ann --org acme", "key.create"],
  ["key revoke --id KEY", "key.revoke"],
  ["session create --user ann", "session.create"],
  ["session revoke --user ann", "session.revoke"],
  ["user set-password --user ann", "password.set"],
  ["user disable --user ann", "user.disable"],
  ["user enable --user ann", "user.enable"],
  ["project create --org acme --name Checkout", "project.create"],
  ["project rename --org acme --project checkout --name Payments", "project.update"],
  ["project delete --org acme --project checkout", "project.delete"],
  ["project restore --org acme --project checkout", "project.restore"],
  ["member remove --org acme --user ann", "member.remove"],
  ["org delete --org acme --confirm acme", "org.schedule-deletion"],
  ["org restore --org acme", "org.restore"],
];

const READS = [
  "user list",
  "user show",
  "org list",
  "project list",
  "key list",
  "session list",
  "audit list",
  "audit verify",
  "tracker check",
  "catalog held",
];

/**
 * Commands covered by their own test files, by test/citus/ or by test/api/operations/definition_quarantine_test.ts. `migrate`
 * writes no entry, because the audit log may not exist yet.
 */
const ELSEWHERE = [
  ...["import", "artifacts adopt", "demo seed", "migrate", "tracker distribute"],
  ...["definition quarantine", "definition release", "user remove-factors"],
  ...["catalog accept", "catalog reject", "catalog correct"],
];

test("every command that writes adds one audit entry without secrets", async () => {
  await using db = await openTestDatabase();
  const listed = WRITES.map(([words]) => words.split(" ", 2).join(" "));
  expect([...listed, ...READS, ...ELSEWHERE].sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  const secrets = ["correct-horse", PASSWORD];
  let keyId = "";
  for (const [index, [words]] of WRITES.entries()) {
    const made = await runJson<Record<string, string>>(
      db.url,
      words.replace("KEY", keyId).split(" "),
      {},
      PASSWORD,
    );
    keyId = made["key"] ? (made["id"] ?? "") : keyId;
    secrets.push(...[made["key"], made["sessionToken"]].filter((secret) => secret !== undefined));
    const rows = await db.sql`select action, actor_type, details::text as details from audit_log order by id`;
    const expected = WRITES.slice(0, index + 1).map(([, action]) => ({ action, actorType: "operator" }));
    expect(rows.map(({ action, actorType }) => ({ action, actorType }))).toEqual(expected);
    for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
  }
  expect(secrets).toHaveLength(4);
});
