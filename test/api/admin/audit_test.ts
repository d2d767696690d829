import { expect, test } from "bun:test";
import { COMMANDS } from "../../../api/admin/commands.ts";
import { runJson } from "../../helpers/admin.ts";
import { openTestDatabase } from "../../helpers/database.ts";

/** Each command that changes something, on what those before it made, and what the audit log calls it. */
const WRITES: readonly [words: string, action: string][] = [
  ["user create --username ann --email ann@example.com --password correct-horse", "user.create"],
  ["org create --slug acme --name Acme", "org.create"],
  ["org set-tier --org acme --tier pro", "org.set-tier"],
  ["member add --org acme --user ann --role publisher", "member.add"],
  ["key create --user ann --org acme", "key.create"],
  ["key revoke --id KEY", "key.revoke"],
  ["session create --user ann", "session.create"],
  ["project create --org acme --name Checkout", "project.create"],
  ["member remove --org acme --user ann", "member.remove"],
];

/** Told of in import_test.ts, demo_test.ts and, without an audit log to write to yet, migrate_test.ts. */
const ELSEWHERE = ["import", "demo seed", "migrate"];

test("every command that changes something leaves one row in the audit log, and no secret in it", async () => {
  await using db = await openTestDatabase();
  const listed = WRITES.map(([words]) => words.split(" ", 2).join(" "));
  expect([...listed, ...ELSEWHERE].sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  const secrets = ["correct-horse"];
  let keyId = "";
  for (const [index, [words]] of WRITES.entries()) {
    const made = await runJson<Record<string, string>>(db.url, words.replace("KEY", keyId).split(" "));
    keyId = made["key"] ? (made["id"] ?? "") : keyId;
    secrets.push(...[made["key"], made["sessionToken"]].filter((secret) => secret !== undefined));
    const rows = await db.sql`select action, actor_type, details::text as details from audit_log order by id`;
    const expected = WRITES.slice(0, index + 1).map(([, action]) => ({ action, actorType: "operator" }));
    expect(rows.map(({ action, actorType }) => ({ action, actorType }))).toEqual(expected);
    for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
  }
  expect(secrets).toHaveLength(3);
});
