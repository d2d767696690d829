import { expect, test } from "bun:test";
import type { Sql } from "../../../sql/connection/pool.ts";
import {
  countExecutions,
  type ExecutionCounts,
  insertExecutions,
} from "../../../sql/definitions/executions.ts";
import { deleteOldRows, listKeptRows } from "../../../sql/delete_old_rows.ts";
import { makeVersion } from "../../helpers/definitions/definition_list.ts";
import { countReads } from "../../helpers/postgres/count_reads.ts";
import { openTestDatabase } from "../../helpers/postgres/database.ts";
import { createFactory } from "../../helpers/postgres/factory.ts";

/** Window lengths in minutes: one minute, about an hour, ten hours, a day, and the maximum of 30 days. */
const WINDOWS = [1, 59, 60, 61, 600, 1440, 43_200];

test("counts executions in windows of any length exactly, after any change to the records", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const person = await createFactory(sql).person();
  const owner = { orgId: person.org.id, authorId: person.user.id, name: "reviewer" };
  const published = await makeVersion(sql, { ...owner, version: "1.0.0" });
  const draft = await makeVersion(sql, { ...owner, version: "2.0.0", status: "draft" });
  const [line] = await sql<[{ id: string }]>`select id from definition_lines`;
  // Adds executions from the last 31 days: on the hour, in about the last hour, and at other times.
  const addRecords = () => sql`
    insert into definition_executions (line_id, definition_id, source, recorded_by, recorded_at)
    select
      ${line.id}, (${[published, draft]}::uuid[])[1 + n % 2], (array['cli', 'sdk', 'api'])[1 + n % 3], ${person.user.id},
      case n % 4
        when 0 then date_trunc('hour', now()) - n / 4 * interval '1 hour'
        when 1 then now() - n * interval '2 seconds'
        else now() - n * interval '22 minutes'
      end
    from generate_series(1, 2000) as n`;
  const expectExact = () =>
    sql.begin(async (tx) => {
      for (const minutes of WINDOWS) {
        const viewer = { userId: person.user.id, boundOrgId: null };
        const window = { lineId: line.id, minutes, viewer, bySource: true, byVersion: true };
        const { byTime, ...counts } = await countExecutions(tx, { ...window, byTime: "hour" });
        const counted = { ...counts, byTime: byTime.toSorted((a, b) => (a.time < b.time ? -1 : 1)) };
        expect([minutes, counted]).toEqual([minutes, await naiveCounts(tx, minutes)]);
      }
    });

  await addRecords();
  await expectExact();
  // The line keeps the executions of the deleted version.
  await sql`delete from definitions where id = ${draft}`;
  await expectExact();
  await sql`delete from definition_executions where source = 'sdk' or recorded_at > now() - interval '10 minutes'`;
  await expectExact();
  await sql`update definition_executions set source = 'ci', recorded_at = recorded_at - interval '30 minutes' where source = 'api'`;
  await expectExact();
  await sql`delete from definition_executions`;
  expect([...(await sql`select * from definition_execution_hours`)]).toEqual([]);
});

test("counts all records of concurrent writers in the hourly totals", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const person = await createFactory(sql).person();
  const id = await makeVersion(sql, { orgId: person.org.id, authorId: person.user.id, name: "reviewer" });
  await Promise.all(
    Array.from({ length: 32 }, (_, writer) =>
      sql.begin(async (tx) => {
        for (const source of writer % 2 === 0 ? ["cli", "sdk"] : ["cli"]) {
          await tx`
            insert into definition_executions (line_id, definition_id, source, recorded_by)
            select line_id, id, ${source}, ${person.user.id} from definitions, generate_series(1, 5) where id = ${id}`;
        }
      }),
    ),
  );
  const hours = await sql`
    select source, sum(count)::int as count from definition_execution_hours group by source order by source`;
  expect([...hours]).toEqual([
    { source: "cli", count: 160 },
    { source: "sdk", count: 80 },
  ]);
});

test("counts every run and caller once with 32 concurrent writers that share runs and callers", async () => {
  await using db = await openTestDatabase();
  const { sql } = db;
  const make = createFactory(sql);
  const person = await make.person();
  const callers = [person.user.id, (await make.user()).id, (await make.user()).id];
  const definitionId = await makeVersion(sql, {
    orgId: person.org.id,
    authorId: person.user.id,
    name: "reviewer",
  });
  const [{ lineId }] = await sql<[{ lineId: string }]>`select line_id from definitions`;
  const written = await Promise.all(
    Array.from({ length: 32 }, (_, writer) =>
      insertExecutions(sql, {
        lineId,
        // Four writers send each run, in different orders and as different callers.
        executions: Array.from({ length: 8 }, (_, n) => ({
          id: crypto.randomUUID(),
          definitionId,
          runId: `run-${writer % 8}-${writer % 3 === 0 ? n : 7 - n}`,
          source: "sdk",
          recordedBy: callers[(writer + n) % callers.length] ?? person.user.id,
          recordedAt: null,
        })),
        auditEntries: [
          {
            actorType: "service",
            action: "execution.record",
            subject: { type: "definition", id: definitionId },
          },
        ],
      }),
    ),
  );
  // Of the four writers that send the same runs, only the first records the runs.
  const counts = written.filter((count) => count !== null);
  expect(counts.toSorted((a, b) => a - b)).toEqual([8, 16, 24, 32, 40, 48, 56, 64]);
  const [line] = await sql`
    select
      execution_count, unique_execution_count,
      (select count(distinct recorded_by) from definition_executions) as callers,
      (select sum(count)::int from definition_execution_hours) as in_hours,
      (select count(*) from audit_log) as audited
    from definition_lines`;
  expect(line).toEqual({
    executionCount: 64,
    uniqueExecutionCount: line?.["callers"],
    callers: expect.any(Number),
    inHours: 64,
    audited: 8,
  });
});

test("reads only the executions that the sweep deletes, even if old and new executions share pages", async () => {
  await using db = await openTestDatabase();
  const person = await createFactory(db.sql).person();
  await makeVersion(db.sql, {
    orgId: person.org.id,
    authorId: person.user.id,
    name: "reviewer",
    version: "1.0.0",
  });
  await db.owner`
    insert into definition_executions (line_id, source, recorded_by, recorded_at)
    select l.id, 'cli', ${person.user.id}, now() - make_interval(days => case when n % 1000 = 0 then 92 else 1 end)
    from definition_lines as l, generate_series(1, 30000) as n`;
  await db.owner`analyze definition_executions`;
  const sweep = () =>
    db.sql.begin(async (tx) => {
      const days = { sessionRetentionDays: 1, exportJobRetentionDays: 1, executionRetentionDays: 91 };
      const { executions } = listKeptRows(days);
      const sweeping = () => deleteOldRows(tx, { ...executions, limit: 20 });
      const { result: deleted, rows } = await countReads(tx, ["definition_executions"], sweeping);
      return { deleted, readFew: rows < 200 };
    });
  expect(await sweep()).toEqual({ deleted: 20, readFew: true });
  expect(await sweep()).toEqual({ deleted: 10, readFew: true });
});

/** Computes the expected counts directly from the records, without the hourly totals, as of the start of the transaction. */
async function naiveCounts(sql: Sql, minutes: number): Promise<ExecutionCounts> {
  const records = await sql<{ time: string; source: string; version: string | null }[]>`
    select date_trunc('hour', recorded_at) as time, source, version
    from definition_executions as e
    left join definitions as d on d.id = e.definition_id
    where recorded_at > now() - make_interval(mins => ${minutes})
    order by recorded_at`;
  const [{ until }] = await sql<[{ until: string }]>`select now() as until`;
  const countBy = (key: "time" | "source" | "version") =>
    [...Map.groupBy(records, (record) => record[key])].flatMap(([value, { length }]) =>
      value === null ? [] : [{ value, count: length }],
    );
  return {
    until,
    total: records.length,
    byTime: countBy("time").map(({ value, count }) => ({ time: value, count })),
    bySource: countBy("source")
      .map(({ value, count }) => ({ source: value, count }))
      .toSorted((a, b) => b.count - a.count || (a.source < b.source ? -1 : 1)),
    byVersion: countBy("version")
      .map(({ value, count }) => ({ version: value, count }))
      .toSorted((a, b) => b.count - a.count || (a.version > b.version ? -1 : 1)),
  };
}
