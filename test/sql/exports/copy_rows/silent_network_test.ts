/** Tests an export on two lanes whose server stops responding without an error. */
import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../../shared/exports/datasets.ts";
import { openPool, type Sql } from "../../../../sql/connection/pool.ts";
import { openExportSnapshot, shareSnapshot } from "../../../../sql/connection/snapshot.ts";
import { copyLanes } from "../../../../sql/exports/copy_rows.ts";
import { FORMATS, KeyRanges } from "../../../../sql/exports/dataset_file.ts";
import { openSlowProxy } from "../../../helpers/network/slow_proxy.ts";
import { openTestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";

const ENDLESS = "select to_json(repeat('x', 100000)) from generate_series(1, 1000000)";

test("does not wait for an unresponsive server in either lane when the reader stops", async () => {
  await using db = await openTestDatabase();
  await using proxy = await openSlowProxy(db.url);
  const make = createFactory(db.sql);
  const person = await make.person();
  const { id: projectId } = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  for (let row = 0; row < 3; row += 1) await make.issue({ projectId });
  const url = new URL(db.url);
  url.port = new URL(proxy.origin).port;
  const far = openPool(url.href, { applicationName: "test-far-lanes", max: 2, readOnly: true });
  const control = openPool(url.href, { applicationName: "test-far-control", max: 1 });
  await control`select`;
  const options = { control, signal: new AbortController().signal, closeTimeoutMs: 100 };
  const first = await openExportSnapshot(far, options);
  const second = await openExportSnapshot(far, { ...options, shared: await shareSnapshot(first) });
  const selection = {
    ...{ trackerSchema: "public", projectId, asOf: new Date(Date.now() + 1000).toISOString() },
    ...{ visibility: toVisibility({}), filters: NO_FILTERS },
  };
  const ranges = new KeyRanges(EXPORT_DATASETS.issues, selection, { firstRows: 1, bytes: 1 });
  const nextPart = (tx: Sql) => ranges.nextPart(tx, () => ENDLESS);
  const chunks = copyLanes([first, Promise.resolve(second)], nextPart, FORMATS.ndjson.copy([]));
  expect((await chunks.next()).done).toBe(false);
  proxy.stall();
  await chunks.return();
  await Promise.all([first.close(), second.close()]);
  proxy.recover();
  await Promise.all([far.end({ timeout: 0 }), control.end({ timeout: 0 })]);
});
