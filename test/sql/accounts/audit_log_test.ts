import { expect, test } from "bun:test";
import { type AuditEntry, insertAuditEntries, insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";

const ENTRIES: AuditEntry[] = [
  { actorType: "operator", action: "org.create", subject: { type: "org", id: "1" } },
  {
    actorType: "user",
    actorUserId: crypto.randomUUID(),
    action: "execution.record",
    subject: { type: "definition", id: "2" },
    orgId: crypto.randomUUID(),
    requestId: "r-1",
    details: { runId: 'a "run"', count: 3, isNew: true, source: null },
  },
];

async function listRows(sql: Sql): Promise<object[]> {
  const rows = await sql`
    select actor_type, actor_user_id, credential_id, action, subject_type, subject_id, org_id, request_id, details
    from audit_log
    order by id`;
  return rows.map((row) => ({ ...row }));
}

test("inserting entries in one statement creates the same rows, in the same order, as inserting them one by one", async () => {
  await using db = await openTestDatabase();
  for (const entry of ENTRIES) await insertAuditEntry(db.sql, entry);
  await insertAuditEntries(db.sql, ENTRIES);
  const rows = await listRows(db.sql);
  expect(rows).toHaveLength(2 * ENTRIES.length);
  expect(rows.slice(ENTRIES.length)).toEqual(rows.slice(0, ENTRIES.length));
});
