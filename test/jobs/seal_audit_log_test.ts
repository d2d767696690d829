import { expect, test } from "bun:test";
import { keepAuditLogSealed } from "../../jobs/seal_audit_log.ts";
import { createLog } from "../../shared/process/log.ts";
import { findAuditChain } from "../../sql/accounts/audit_chain.ts";
import { insertAuditEntry } from "../../sql/accounts/audit_log.ts";
import { openTestDatabase } from "../helpers/postgres/database.ts";
import { waitFor } from "../helpers/wait_for.ts";

test("seals new entries and logs the head of the chain", async () => {
  await using db = await openTestDatabase();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    level: "info",
    process: "jobs",
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const leaving = new AbortController();
  const sealing = keepAuditLogSealed({ sql: db.sql, log }, leaving.signal);
  for (let entry = 1; entry <= 2; entry += 1) {
    await insertAuditEntry(db.sql, {
      actorType: "service",
      action: "thing.do",
      subject: { type: "thing", id: "1" },
    });
    await waitFor(async () => (await findAuditChain(db.sql)).sealedPosition === entry);
  }
  leaving.abort();
  await sealing;
  const [first] = await db.sql`select encode(hash, 'hex') as hash from audit_log where position = 1`;
  expect(lines).toMatchObject([{ event: "audit.sealed", position: 1, hash: first?.["hash"] }]);
});
