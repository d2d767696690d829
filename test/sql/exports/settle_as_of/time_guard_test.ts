/** Tests the triggers that protect the time columns of tracker rows (docs/watermark.md). */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { openPool, type Pool } from "../../../../sql/connection/pool.ts";
import { makeExportProject } from "../../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

const TABLES = EXPORT_DATASET_NAMES.map((name) => EXPORT_DATASETS[name]);

/** Opens a pool with a tracker's application name. Unlike other test pools, it does not set `ulr.backfill`. */
function openTracker({ db }: Pick<TestApp, "db">): Pool {
  return openPool(db.url, { applicationName: "tracker", max: 1 });
}

/** Inserts a copy of a row with new keys. The time of the copy is `at`, or the start of the transaction if `at` is null. */
async function copyRow(tracker: Pool, { table, timeColumn }: (typeof TABLES)[number], at: string | null) {
  const time = at === null ? tracker`now()` : tracker`${at}::timestamptz`;
  await tracker`
    insert into ${tracker(table)}
    select (jsonb_populate_record(null::${tracker(table)}, to_jsonb(t) || jsonb_build_object(
      'id', gen_random_uuid(), ${timeColumn}::text, ${time}, 'run_number', 1000 + (random() * 1000000)::int,
      'fingerprint', encode(sha256(gen_random_uuid()::text::bytea), 'hex')
    ))).*
    from ${tracker(table)} as t
    limit 1`;
}

test.each(TABLES.map((dataset) => [dataset.table, dataset] as const))(
  "rejects a new row of %s whose time is not its transaction's start, and rejects changes to that time",
  async (table, dataset) => {
    await using app = await openTestApp();
    await makeExportProject(app);
    const tracker = openTracker(app);
    const { timeColumn } = dataset;
    await copyRow(tracker, dataset, null);
    const [{ now }] = await tracker<[{ now: string }]>`select now() as now`;
    const earlier = new Date(Date.parse(now) - 1000).toISOString();
    const later = new Date(Date.parse(now) + 60_000).toISOString();
    for (const at of [earlier, later]) {
      await expect(copyRow(tracker, dataset, at)).rejects.toThrow(
        `${timeColumn} of a new row of "${table}" must be the start of its transaction`,
      );
      const update = tracker`update ${tracker(table)} set ${tracker(timeColumn)} = ${at}`;
      await expect(Promise.resolve(update)).rejects.toThrow(
        `${timeColumn} of a row of "${table}" must not change`,
      );
    }
    // An update that keeps the time is allowed. With `ulr.backfill`, an update that changes the time is allowed too.
    await tracker`update ${tracker(table)} set ${tracker(timeColumn)} = ${tracker(timeColumn)}, project_id = project_id`;
    await tracker.begin(async (tx) => {
      await tx`set local ulr.backfill = 'on'`;
      await tx`update ${tx(table)} set ${tx(timeColumn)} = ${earlier}`;
    });
    await expect(copyRow(tracker, dataset, earlier)).rejects.toThrow("must be the start of its transaction");
    await tracker.end();
  },
);

test("does not reject the time of an existing row in INSERT … ON CONFLICT DO NOTHING", async () => {
  await using app = await openTestApp();
  await makeExportProject(app);
  const tracker = openTracker(app);
  const { count } = await tracker`insert into issues select * from issues on conflict do nothing`;
  expect(count).toBe(0);
  await tracker.end();
});
