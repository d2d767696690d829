import { expect, test } from "bun:test";
import { EXPORT_DATASETS, NO_FILTERS, toVisibility } from "../../../../shared/exports/datasets.ts";
import { openExportSnapshot } from "../../../../sql/connection/snapshot.ts";
import { type KeyRange, KeyRanges, rangeQuery } from "../../../../sql/exports/dataset_file.ts";
import { createTestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";

const ROWS = 30_000;
const RANGE_ROWS = 2000;

interface Explained {
  Plan: { "Shared Hit Blocks": number; "Shared Read Blocks": number };
}

test("reads only the rows of a range, wherever the range is in the project", async () => {
  await using db = await createTestDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  const { id: projectId } = await make.project({ orgId: person.org.id, ownerId: person.user.id });
  await db.sql`
    insert into issues (project_id, fingerprint, title, status, priority, first_seen_run_id, last_seen_run_id, created_at)
    select
      ${projectId}, md5(n::text) || md5(n::text || 'x'), 'Issue ' || n, 'open', 'high', gen_random_uuid(),
      gen_random_uuid(), '2026-01-01'::timestamptz + n * interval '1 second'
    from generate_series(1, ${ROWS}::int) as n`;
  await db.owner`vacuum analyze issues`;
  const asOf = "2026-02-01T00:00:00.000Z";
  const selection = {
    trackerSchema: "public",
    projectId,
    asOf,
    visibility: toVisibility({}),
    filters: NO_FILTERS,
  };
  const { signal } = new AbortController();
  const snapshot = await openExportSnapshot(db.sql, { control: db.sql, signal });
  const ranges = new KeyRanges(EXPORT_DATASETS.issues, selection, { firstRows: RANGE_ROWS });
  const countBlocks = async (range: KeyRange): Promise<number> => {
    const query = rangeQuery(EXPORT_DATASETS.issues, selection, { format: "ndjson", range });
    const [row] = await snapshot.run((tx) =>
      tx.unsafe<[{ "QUERY PLAN": [Explained] }]>(`explain (analyze, buffers, format json) ${query}`),
    );
    const { Plan: plan } = row["QUERY PLAN"][0];
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  };
  const blocks: number[] = [];
  for (;;) {
    const range = await snapshot.run((tx) => ranges.next(tx));
    if (!range) break;
    blocks.push(await countBlocks(range));
  }
  await snapshot.close();
  expect(blocks).toHaveLength(ROWS / RANGE_ROWS + 1);
  // Ignores the last range, which is empty.
  const full = blocks.slice(0, -1);
  expect(Math.max(...full)).toBeLessThan(1.5 * Math.min(...full));
});
