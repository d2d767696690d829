import { expect, test } from "bun:test";
import type { ExportJob } from "../../api/exports/export_job.ts";
import { makeDefinition } from "../helpers/definitions/definitions.ts";
import { openTestDatabase, type TestDatabase } from "../helpers/postgres/database.ts";
import { createFactory } from "../helpers/postgres/factory.ts";
import { DefinitionLedger } from "./ledgers/definition_ledger.ts";
import { ExecutionLedger } from "./ledgers/execution_ledger.ts";
import { ExportLedger } from "./ledgers/export_ledger.ts";
import { JobLedger } from "./ledgers/job_ledger.ts";
import { KeyLedger } from "./ledgers/key_ledger.ts";

const SHA256 = "0".repeat(64);

/** Inserts a record of an execution without updating the counters of its line. */
async function insertExecution(
  { sql }: TestDatabase,
  { lineId, userId }: { lineId: string; userId: string },
  { runId = null, source = "soak" }: { runId?: string | null; source?: string },
): Promise<void> {
  await sql`
    insert into definition_executions (line_id, run_id, source, recorded_by)
    values (${lineId}, ${runId}, ${source}, ${userId})`;
}

test("the execution ledger finds lost, duplicate and uncounted executions, and executions that no client sent", async () => {
  await using db = await openTestDatabase();
  const person = await createFactory(db.sql).person();
  const { lineId } = await makeDefinition(db.sql, person, { name: "reviewer", status: "published" });
  const book = new ExecutionLedger();
  for (const mark of ["kept", "lost", "cut-off", "twice"]) book.begin("reviewer", mark);
  for (const mark of ["kept", "lost", "twice"]) book.acknowledge("reviewer", mark);
  expect(book.countAcknowledged("reviewer")).toBe(3);
  const by = { lineId, userId: person.user.id };
  for (const record of [{ runId: "kept" }, { source: "twice" }, { source: "twice" }, { runId: "nobody's" }]) {
    await insertExecution(db, by, record);
  }
  await db.sql`update definition_lines set execution_count = 3, unique_execution_count = 2`;
  expect(await book.listTroubles(db.sql)).toEqual([
    "reviewer: the acknowledged record lost is lost",
    "reviewer: twice is there 2 times",
    "reviewer: nobody has sent nobody's",
    "reviewer: counts 3 of 4 records",
    "reviewer: counts 2 of 1 callers",
  ]);
});

test("the definition ledger finds lost, changed and unknown versions, and wrong statuses", async () => {
  await using db = await openTestDatabase();
  const person = await createFactory(db.sql).person();
  const hash = `sha256:${SHA256}`;
  const book = new DefinitionLedger();
  for (const version of ["1.0.0", "1.0.1", "1.0.2", "1.0.3", "1.0.4"]) {
    book.begin(`soak-a@${version}`, "draft");
    book.acknowledge(`soak-a@${version}`, "published", version === "1.0.1" ? "sha256:other" : hash);
  }
  book.begin("soak-a@1.0.4", "deprecated");
  book.begin("soak-a@1.0.5", "draft");
  for (const version of ["1.0.0", "1.0.1", "1.0.4", "1.0.9"]) {
    await makeDefinition(db.sql, person, { name: "soak-a", version, status: "published" });
  }
  await makeDefinition(db.sql, person, { name: "soak-a", version: "1.0.3", status: "deprecated" });
  expect(await book.listTroubles(db.sql, "soak-")).toEqual([
    "soak-a@1.0.1 has another document",
    "soak-a@1.0.2 is lost, and clients know it as published",
    "soak-a@1.0.3 is deprecated, and clients know it as published",
    "nobody has made soak-a@1.0.9",
  ]);
});

test("the key ledger finds lost, unrevoked and surplus keys", async () => {
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const user = await make.user();
  const alive = await make.key({ userId: user.id });
  const dead = await make.key({ userId: user.id, revokedAt: "2026-01-01T00:00:00.000Z" });
  const book = new KeyLedger();
  book.begin();
  for (const { id } of [alive, dead]) book.acknowledge(id);
  for (const { id, key } of [alive, dead]) book.acknowledgeRevoked(id, key);
  const lost = crypto.randomUUID();
  book.acknowledge(lost);
  expect(await book.listTroubles(db.sql, [user.id])).toEqual([
    `the key ${alive.id} is not revoked, and clients know better`,
    `the acknowledged key ${lost} is lost`,
    "2 keys, of 1 asked for",
  ]);
});

test("the export ledger finds row counts that differ between exports at one cutoff or from the table", async () => {
  await using db = await openTestDatabase();
  const make = createFactory(db.sql);
  const { user, org } = await make.person();
  const { id: projectId } = await make.project({ orgId: org.id, ownerId: user.id });
  await make.issue({ projectId, createdAt: "2026-01-01T00:00:00.000Z" });
  const cut = { projectId, dataset: "issues", asOf: "2026-01-02T00:00:00.000Z" } as const;
  const book = new ExportLedger();
  expect(book.add(cut, 1)).toBeNull();
  expect(await book.listTroubles(db.sql)).toEqual([]);
  expect(book.add(cut, 2)).toContain("has 2 rows, and had 1");
  expect(await book.listTroubles(db.sql)).toHaveLength(1);
});

test("the job ledger finds lost and surplus jobs, backward status changes and unexpected final statuses", async () => {
  await using db = await openTestDatabase();
  const { user, org } = await createFactory(db.sql).person();
  const insert = async (status: string, errorCode: string | null) => {
    const [row] = await db.sql<[{ id: string }]>`
      insert into export_jobs (
        number, org_id, requested_by, status, format, as_of, include_deleted, include_archived, include_superseded,
        include_resolved, error_code, error_message, finished_at
      )
      values (
        (select count(*) + 1 from export_jobs), ${org.id}, ${user.id}, ${status}, 'csv', now(), false, false, false, true, ${errorCode},
        ${errorCode}, ${errorCode === null ? null : new Date().toISOString()}
      )
      returning id`;
    return row.id;
  };
  const canceled = await insert("failed", "CANCELED");
  const failed = await insert("failed", "BUILD_FAILED");
  const active = await insert("queued", null);
  const lost = crypto.randomUUID();
  const book = new JobLedger();
  book.begin();
  const see = (id: string, status: ExportJob["status"], askedAt = performance.now()) =>
    book.see({ id, status } as ExportJob, askedAt);
  expect(see(canceled, "queued")).toBeNull();
  expect(see(lost, "ready")).toBeNull();
  expect(see(lost, "running", 0)).toBeNull();
  expect(see(lost, "running")).toBe(`job ${lost} was ready and is running`);
  const troubles = await book.listTroubles(db.sql);
  expect(troubles.toSorted()).toEqual(
    [
      `job ${canceled} was canceled by nobody`,
      `job ${lost} is lost`,
      "3 jobs, of 1 asked for",
      `job ${failed} ended as failed BUILD_FAILED in attempt 0`,
      `job ${active} ended as queued  in attempt 0`,
    ].toSorted(),
  );
});
