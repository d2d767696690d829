/** Tests the hash chain over the audit log, and its protection against changes. */
import { expect, test } from "bun:test";
import {
  deleteOldAuditEntries,
  findAuditChain,
  findUnsealed,
  sealAuditLog,
} from "../../../sql/accounts/audit_chain.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { runCommand, runJson } from "../../helpers/accounts/admin.ts";
import { openTestDatabase, type TestDatabase } from "../../helpers/postgres/database.ts";

async function addEntries(sql: Sql, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    await insertAuditEntry(sql, {
      actorType: "user",
      actorUserId: crypto.randomUUID(),
      action: "thing.do",
      subject: { type: "thing", id: String(number) },
      address: "192.0.2.1",
      details: { number, 'ä "quote"': null },
    });
  }
}

/** Changes the audit log as its owner can: with the guard triggers disabled. */
async function tamper(db: TestDatabase, change: (tx: Sql) => Promise<unknown>): Promise<void> {
  await db.owner.begin(async (tx) => {
    await tx`alter table audit_log disable trigger user`;
    await change(tx);
    await tx`alter table audit_log enable trigger user`;
  });
}

interface Verified {
  entries: number;
  head: { position: number; hash: string };
  unsealed: number;
}

async function verify(db: TestDatabase, ...flags: string[]): Promise<Verified> {
  return runJson<Verified>(db.url, ["audit", "verify", ...flags]);
}

/** Returns the error that `audit verify` reports about a broken log. */
async function problemOf(db: TestDatabase, ...flags: string[]): Promise<string> {
  const { exitCode, out, err } = await runCommand(db.url, ["audit", "verify", "--json", ...flags]);
  expect(exitCode).toBe(1);
  const message = err.trimEnd();
  expect(JSON.parse(out)).toEqual({ error: { code: "AUDIT_BROKEN", message } });
  return message;
}

test("seals committed entries in a single chain, even with concurrent sealers, and verifies every entry", async () => {
  await using db = await openTestDatabase();
  await addEntries(db.sql, 30);
  expect(await verify(db)).toMatchObject({ entries: 0, unsealed: 30 });
  const sealed = await Promise.all(Array.from({ length: 6 }, () => sealAuditLog(db.sql, 8)));
  while ((await sealAuditLog(db.sql, 8)) > 0) sealed.push(0);
  const rows = await db.sql<{ position: number }[]>`select position from audit_log order by position`;
  expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  const { sealedHash } = await findAuditChain(db.sql);
  expect(await verify(db)).toMatchObject({
    entries: 30,
    head: { position: 30, hash: sealedHash },
    unsealed: 0,
  });
});

test("seals committed entries while another entry is uncommitted", async () => {
  await using db = await openTestDatabase();
  await db.sql.begin(async (tx) => {
    await addEntries(tx, 1);
    await addEntries(db.sql, 1);
    expect(await sealAuditLog(db.sql, 10)).toBe(1);
  });
  expect(await sealAuditLog(db.sql, 10)).toBe(1);
  expect(await verify(db)).toMatchObject({ entries: 2 });
});

test("makes no writer wait for another writer or for sealing", async () => {
  await using db = await openTestDatabase();
  await db.sql.begin(async (first) => {
    await addEntries(first, 1);
    await sealAuditLog(first, 10);
    await db.sql.begin(async (second) => {
      await second`set local lock_timeout = '1s'`;
      await addEntries(second, 1);
      expect(await sealAuditLog(second, 10)).toBe(0);
    });
  });
  expect(await findUnsealed(db.sql)).toMatchObject({ count: 1 });
});

test("prevents everyone, even the table's owner, from updating, deleting or truncating entries", async () => {
  await using db = await openTestDatabase();
  await addEntries(db.sql, 3);
  await sealAuditLog(db.sql, 2);
  for (const sql of [db.sql, db.owner]) {
    for (const statement of [
      "update audit_log set action = 'other.thing'",
      "update audit_log set position = 7 where position = 1",
      "update audit_log set position = 9, action = 'other.thing' where position is null",
      "delete from audit_log",
      "truncate audit_log",
    ]) {
      const refusal = await sql.unsafe(statement).then(
        () => "done",
        (error: { code?: string }) => error.code,
      );
      expect([statement, refusal]).toEqual([statement, "42501"]);
    }
  }
  expect(await verify(db)).toMatchObject({ entries: 2, unsealed: 1 });
});

test("prevents even the table's owner from setting the time or chain position of an entry", async () => {
  await using db = await openTestDatabase();
  const [row] = await db.owner`
    insert into audit_log (occurred_at, actor_type, action, subject_type, subject_id, position)
    values ('2020-01-01', 'user', 'thing.do', 'thing', '1', 5)
    returning occurred_at > now() - interval '1 hour' as is_now, position`;
  expect(row).toEqual({ isNow: true, position: null });
});

const TAMPERINGS: readonly [name: string, change: (tx: Sql) => Promise<unknown>, problem: RegExp][] = [
  [
    "a changed entry",
    async (tx) => tx`update audit_log set details = '{"number": 4}' where position = 3`,
    /^The audit log is broken: entry 3 of \S+, position 3 was changed$/,
  ],
  [
    "a deleted entry",
    async (tx) => tx`delete from audit_log where position = 3`,
    /entries are missing before entry 4 of \S+, position 4: the previous one has position 2$/,
  ],
  [
    "a deleted first entry",
    async (tx) => tx`delete from audit_log where position = 1`,
    /missing before entry 2/,
  ],
  [
    "deleted last entries",
    async (tx) => tx`delete from audit_log where position > 4`,
    /entries are missing at the end: the last one has position 4 instead of 6$/,
  ],
  [
    "a replaced entry with a valid hash",
    async (tx) => {
      await tx`update audit_log set action = 'other.thing' where position = 3`;
      await tx`update audit_log a set hash = audit_entry_hash(a) where position = 3`;
    },
    /entry 4 of \S+, position 4 does not follow the previous entry$/,
  ],
];

for (const [name, change, problem] of TAMPERINGS) {
  test(`audit verify finds ${name}`, async () => {
    await using db = await openTestDatabase();
    await addEntries(db.sql, 6);
    await sealAuditLog(db.sql, 10);
    await tamper(db, change);
    expect(await problemOf(db)).toMatch(problem);
  });
}

test("detects a rewritten chain by comparing it with a head that was stored elsewhere", async () => {
  await using db = await openTestDatabase();
  await addEntries(db.sql, 6);
  await sealAuditLog(db.sql, 10);
  const { head } = await verify(db);
  const kept = `${head.position}:${head.hash}`;
  await tamper(db, async (tx) => {
    await tx`delete from audit_log where position > 3`;
    await tx`
      update audit_chain set sealed_position = 3, sealed_hash = (select hash from audit_log where position = 3)`;
  });
  expect(await verify(db)).toMatchObject({ entries: 3 });
  expect(await problemOf(db, "--head", kept)).toContain("the last one has position 3 instead of 6");
  await addEntries(db.sql, 3);
  await sealAuditLog(db.sql, 10);
  expect(await problemOf(db, "--head", kept)).toContain("the chain was rewritten");
});

test("audit verify --head accepts the head of the last entry that retention deleted, but no older head", async () => {
  await using db = await openTestDatabase();
  await addEntries(db.sql, 3);
  await sealAuditLog(db.sql, 10);
  const heads = await db.sql<{ head: string }[]>`
    select position || ':' || encode(hash, 'hex') as head from audit_log order by position`;
  const [first = "", second = "", third = ""] = heads.map(({ head }) => head);
  await tamper(db, async (tx) => {
    await tx`update audit_log set occurred_at = now() - interval '401 days' where position <= 2`;
  });
  expect(await deleteOldAuditEntries(db.sql, { days: 400, limit: 10 })).toBe(2);
  for (const head of [second, third]) {
    expect(await verify(db, "--head", head)).toMatchObject({ entries: 1, head: { position: 3 } });
  }
  const zeros = "0".repeat(64);
  expect(await problemOf(db, "--head", `2:${zeros}`)).toBe(
    "The audit log is broken: position 2 does not have the hash in --head: the chain was rewritten",
  );
  for (const head of [first, `1:${zeros}`]) {
    const { exitCode, out, err } = await runCommand(db.url, ["audit", "verify", "--head", head]);
    expect([exitCode, out]).toEqual([1, ""]);
    expect(err).toContain("position 1 is older than what the log keeps. Use a head from position 2 on.");
  }
  await tamper(db, async (tx) => tx`delete from audit_log where position = 3`);
  expect(await problemOf(db, "--head", first)).toContain("entries are missing at the end");
});

test("deletes entries older than 400 days from the start of the chain, and still verifies the remaining entries", async () => {
  await using db = await openTestDatabase();
  await addEntries(db.sql, 5);
  const age = (days: number, ids: number[]) =>
    tamper(db, async (tx) => {
      await tx`
        update audit_log set occurred_at = now() - ${days} * interval '1 day' where id = any (${ids}::bigint[])`;
    });
  await age(401, [1, 2, 4]);
  await age(399, [3]);
  const deleteOld = (days: number) => deleteOldAuditEntries(db.sql, { days, limit: 10 });
  expect(await deleteOld(400)).toBe(0);
  await sealAuditLog(db.sql, 10);
  expect(await deleteOld(500)).toBe(0);
  // The database keeps entries for at least 400 days, even if the caller passes fewer days. Entries are deleted in order, so the
  // fourth entry stays as long as the third is too recent.
  expect(await deleteOld(1)).toBe(2);
  expect(await deleteOld(1)).toBe(0);
  expect(await verify(db)).toMatchObject({ entries: 3, head: { position: 5 } });
  await tamper(db, async (tx) => tx`delete from audit_log where position = 3`);
  expect(await problemOf(db)).toContain("the previous one has position 2");
});
