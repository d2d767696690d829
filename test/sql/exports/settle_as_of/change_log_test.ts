/** Tests the triggers that log changes of tracker rows for increments (docs/increments.md). */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { ISSUE_STATUSES, RESOLVED_ISSUE_STATUSES } from "../../../../shared/vocabulary.ts";
import type { Sql } from "../../../../sql/connection/pool.ts";
import { makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openTestApp } from "../../../helpers/http/app.ts";

const DATASETS = EXPORT_DATASET_NAMES.map((name) => EXPORT_DATASETS[name]);
/** Datasets whose rows reference rows of another dataset. */
const CHILDREN = DATASETS.filter(({ parents }) => parents.length > 0);

interface Entry {
  dataset: string;
  kind: string;
  id: string;
  isOwnTime: boolean;
}

/** Returns the changes that the transaction has logged so far, ordered by kind and id. */
function listEntries(tx: Sql): Promise<Entry[]> {
  return tx<Entry[]>`
    select dataset, kind, id, at = now()::timestamptz(3) as is_own_time
    from tracker_changes
    where xmin::text = pg_current_xact_id()::xid::text
    order by kind, id`;
}

test.each(DATASETS.map((dataset) => [dataset.name, dataset] as const))(
  "logs each updated row of %s with the start time of its transaction",
  async (name, { table }) => {
    await using app = await openTestApp();
    await makeExportProject(app);
    await app.db.sql.begin(async (tx) => {
      const rows = await tx<{ id: string }[]>`update ${tx(table)} set id = id returning id`;
      const expected = rows.map(({ id }) => ({ dataset: name, kind: "row", id, isOwnTime: true }));
      expect(await listEntries(tx)).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    });
  },
);

test.each(CHILDREN.map((dataset) => [dataset.name, dataset] as const))(
  "logs deleted rows of %s, and rows whose key changed, as deletions",
  async (name, { table, timeColumn }) => {
    await using app = await openTestApp();
    await makeExportProject(app);
    await app.db.sql.begin(async (tx) => {
      const [moved, redated] = await tx<{ id: string }[]>`select id from ${tx(table)} order by id limit 2`;
      const id = crypto.randomUUID();
      await tx`update ${tx(table)} set id = ${id} where id = ${moved?.id ?? ""}`;
      const earlier = tx`${tx(timeColumn)} - interval '1 hour'`;
      await tx`update ${tx(table)} set ${tx(timeColumn)} = ${earlier} where id = ${redated?.id ?? ""}`;
      const entry = { dataset: name, isOwnTime: true };
      const kept = [moved?.id ?? "", redated?.id ?? ""].map((old) => ({
        ...entry,
        kind: "deletion",
        id: old,
      }));
      expect(await listEntries(tx)).toEqual(expect.arrayContaining(kept));
      const deleted = await tx<{ id: string }[]>`delete from ${tx(table)} returning id`;
      const gone = deleted.map((row) => ({ ...entry, kind: "deletion", id: row.id }));
      expect(await listEntries(tx)).toEqual(expect.arrayContaining(gone));
    });
  },
);

test("logs imported rows but not new rows", async () => {
  await using app = await openTestApp();
  const { project } = await makeExportProject(app);
  const made = {
    projectId: project.id,
    fingerprint: "a".repeat(64),
    title: "New",
    status: "open",
    priority: "high",
  };
  const run = { firstSeenRunId: crypto.randomUUID(), lastSeenRunId: crypto.randomUUID() };
  await app.db.sql.begin(async (tx) => {
    await tx`insert into issues ${tx({ ...made, ...run })}`;
    expect(await listEntries(tx)).toEqual([]);
    const old = { ...made, ...run, fingerprint: "b".repeat(64), createdAt: "2020-01-01T00:00:00Z" };
    await tx`insert into issues ${tx(old)}`;
    expect((await listEntries(tx)).map(({ kind }) => kind)).toEqual(["row", "visibility"]);
  });
});

test("logs a change in visibility only if the change affects the export of child rows", async () => {
  await using app = await openTestApp();
  const { ids } = await makeExportProject(app);
  const issue = ids["open issue"] ?? "";
  const run = ids["live run"] ?? "";
  const changes = [
    ["issues", issue, { deletedAt: "2026-01-11T00:00:00Z" }, true],
    ["issues", issue, { deletedAt: "2026-01-12T00:00:00Z" }, false],
    ["issues", issue, { status: "deferred" }, false],
    ["issues", issue, { status: "wontfix" }, true],
    ["issues", issue, { status: "completed" }, false],
    ["runs", run, { archivedAt: "2026-01-11T00:00:00Z" }, true],
    ["runs", run, { archiveReason: "old" }, false],
  ] as const;
  const statuses = ISSUE_STATUSES.filter((status) => status !== "open").flatMap((status) => {
    const isResolved = (RESOLVED_ISSUE_STATUSES as readonly string[]).includes(status);
    return [
      ["issues", issue, { status }, isResolved] as const,
      ["issues", issue, { status: "open" }, isResolved] as const,
    ];
  });
  const reopened = ["issues", issue, { status: "open" }, true] as const;
  for (const [table, id, columns, isLogged] of [...changes, reopened, ...statuses]) {
    await app.db.sql.begin(async (tx) => {
      await tx`update ${tx(table)} set ${tx(columns)} where id = ${id}`;
      const kinds = (await listEntries(tx)).map(({ kind }) => kind);
      expect({ columns, kinds }).toEqual({ columns, kinds: isLogged ? ["row", "visibility"] : ["row"] });
    });
  }
});

test("prevents forged log entries and the unlogged truncation of a table", async () => {
  await using app = await openTestApp();
  const { project } = await makeExportProject(app);
  const forged = { projectId: project.id, dataset: "issues", kind: "deletion", id: crypto.randomUUID() };
  const { sql, owner } = app.db;
  await expect(Promise.resolve(sql`insert into tracker_changes ${sql(forged)}`)).rejects.toThrow(
    "permission denied",
  );
  await expect(Promise.resolve(sql`update tracker_changes set at = now()`)).rejects.toThrow(
    "permission denied",
  );
  await owner.begin(async (tx) => {
    await tx`set local ulr.backfill = 'off'`;
    await expect(Promise.resolve(tx.savepoint((inner) => inner`truncate occurrences`))).rejects.toThrow(
      'Cannot truncate "occurrences"',
    );
    await tx`set local ulr.backfill = 'on'`;
    await tx`truncate occurrences`;
  });
});
