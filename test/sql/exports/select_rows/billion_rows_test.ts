/** Tests the query plans of exports with statistics that report a billion rows in each tracker table. */
import { expect, test } from "bun:test";
import {
  EXPORT_DATASETS,
  type ExportDataset,
  NO_FILTERS,
  toVisibility,
} from "../../../../shared/exports/datasets.ts";
import {
  type ExportSnapshot,
  openExportSnapshot,
  preferParallelCopies,
} from "../../../../sql/connection/snapshot.ts";
import { boundaryQuery, rangeQuery, rowsQuery, sampleQuery } from "../../../../sql/exports/dataset_file.ts";
import { deletedQuery } from "../../../../sql/exports/deleted_rows.ts";
import { countQuery, type ExportSelection } from "../../../../sql/exports/select_rows.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/postgres/database.ts";
import { createFactory } from "../../../helpers/postgres/factory.ts";

const ROWS = 1e9;
const PROJECTS = 10_000;
const SMALL_PROJECTS = 150;
const TABLES = [...Object.values(EXPORT_DATASETS).map(({ table }) => table), "tracker_changes"];
/** Time of the first row. The rows are a minute apart. */
const FIRST_TIME = "2026-01-01T00:00:00.000Z";
const LAST_TIME = "2026-03-01T00:00:00.000Z";
/** Start of the increments. About three percent of the changes are later. */
const LATE_TIME = "2026-02-27T00:00:00.000Z";

/** Inserts rows into every dataset and updates the issues. */
async function fill({ sql, owner }: TestDatabase, projectId: string, issues: number): Promise<void> {
  const time = owner`timestamptz '${owner.unsafe(FIRST_TIME)}' + n * interval '1 minute'`;
  await sql`
    insert into runs (project_id, run_number, workflow_type, "timestamp", created_at)
    select ${projectId}, n, 'review', now(), ${time} from generate_series(1, ${issues}::int) as n`;
  await sql`
    insert into issues (project_id, fingerprint, title, status, priority, first_seen_run_id, last_seen_run_id, created_at)
    select ${projectId}, md5(n::text) || md5(n::text), 'Issue ' || n, 'open', 'high', gen_random_uuid(), gen_random_uuid(), ${time}
    from generate_series(1, ${issues}::int) as n`;
  const pairs = sql`
    (select row_number() over (order by id) as n, id from issues where project_id = ${projectId}) as i
    join (select row_number() over (order by id) as n, id from runs where project_id = ${projectId}) as r using (n)`;
  await sql`
    insert into occurrences (project_id, issue_id, run_id, agent_name, created_at)
    select ${projectId}, i.id, r.id, 'reviewer', ${time} from ${pairs}`;
  await sql`
    insert into issue_notes (project_id, issue_id, content, note_type, created_at)
    select ${projectId}, i.id, 'Seen', 'context', ${time} from ${pairs}`;
  await sql`
    insert into status_history (project_id, issue_id, new_status, changed_at)
    select ${projectId}, i.id, 'open', ${time} from ${pairs}`;
  await sql`
    insert into agent_snapshots (project_id, run_id, name, decision, created_at)
    select ${projectId}, r.id, 'reviewer', 'PASS', ${time} from ${pairs}`;
  await sql`
    insert into analysis_summaries (project_id, run_id, agent_name, agent_type, decision, created_at)
    select ${projectId}, r.id, 'reviewer', 'validator', 'PASS', ${time} from ${pairs}`;
  await sql`
    insert into analysis_records (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data, created_at)
    select ${projectId}, r.id, 'reviewer', 'validator', 'finding', n::text, 'Record', '{}', ${time} from ${pairs}`;
  await sql`update issues set title = title || '.' where project_id = ${projectId}`;
}

/** Makes the planner assume that each table has a billion rows of ten thousand projects. */
async function pretendSize({ owner, admin }: TestDatabase): Promise<void> {
  for (const table of TABLES) {
    await owner`
      alter table ${owner(table)} set (autovacuum_enabled = off), alter column project_id set (n_distinct = ${owner.unsafe(String(PROJECTS))})`;
  }
  await owner`vacuum analyze`;
  // The planner takes the row density from pg_class, but the number of pages from the files.
  await admin`
    update pg_class as c
    set reltuples = ${ROWS}, relpages = greatest(1, pg_relation_size(c.oid) / 8192)
    where c.oid in (
      select to_regclass(name) from unnest(${TABLES}::text[]) as name
      union all
      select i.indexrelid from pg_index as i join unnest(${TABLES}::text[]) as name on i.indrelid = to_regclass(name)
    )`;
}

/**
 * Opens a database with three kinds of projects. The planner estimates half of all rows for `large` and about 0.3 percent for
 * `small`. It has no statistics for `unknown`.
 */
async function openBillionRows(): Promise<{ db: TestDatabase; projectIds: Record<string, string> }> {
  const db = await createTestDatabase();
  const make = createFactory(db.sql);
  const person = await make.person();
  const makeProject = async (issues: number): Promise<string> => {
    const { id } = await make.project({ orgId: person.org.id, ownerId: person.user.id });
    await fill(db, id, issues);
    return id;
  };
  const large = await makeProject(3000);
  const small = await makeProject(20);
  for (let count = 1; count < SMALL_PROJECTS; count += 1) await makeProject(20);
  await db.owner`
    update tracker_changes
    set at = timestamptz '${db.owner.unsafe(FIRST_TIME)}' + random() * (timestamptz '${db.owner.unsafe(LAST_TIME)}' - '${db.owner.unsafe(FIRST_TIME)}')`;
  await pretendSize(db);
  return { db, projectIds: { large, small, unknown: crypto.randomUUID() } };
}

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Lists the nodes that make a plan slow: scans that are not limited to the project, and materialized inputs of nested loops. */
function listFaults(nodes: readonly Plan[]): string[] {
  const isFault = (node: Plan): boolean =>
    /^(Seq Scan|Materialize)$/.test(node["Node Type"]) ||
    (node["Index Name"] !== undefined && !node["Index Cond"]?.includes("project_id = "));
  return nodes.filter(isFault).map((node) => `${node["Node Type"]} ${node["Index Name"] ?? ""}`);
}

/** Lists what prevents rows from arriving in index order: sorts, joins, or an index that is not read. */
function listOrderFaults(nodes: readonly Plan[], { table, timeColumn }: ExportDataset): string[] {
  const index = `${table}_project_id_${timeColumn}_id_idx`;
  const isRead = nodes.some((node) => node["Index Name"] === index);
  const others = nodes.map((node) => node["Node Type"]).filter((type) => /Sort|Join|Nested Loop/.test(type));
  return isRead ? others : [`no ${index}`, ...others];
}

/** Returns the queries of a dataset's export, by name. The `ordered` queries return or skip rows in export order. */
function queriesOf(dataset: ExportDataset, selection: ExportSelection) {
  const id = selection.projectId;
  const after = { time: "2026-01-01T01:00:00Z", id };
  const range = { after, upTo: { time: "2026-01-01T02:00:00Z", id }, rows: 60 };
  const slice = {
    ...selection,
    createdFrom: "2026-01-02T00:00:00.000Z",
    createdTo: "2026-01-03T00:00:00.000Z",
  };
  const increment = { ...selection, since: LATE_TIME };
  return {
    ordered: {
      ndjson: rowsQuery(dataset, selection, "ndjson"),
      csv: rowsQuery(dataset, selection, "csv"),
      parquet: rowsQuery(dataset, selection, "parquet"),
      slice: rowsQuery(dataset, slice, "ndjson"),
      range: rangeQuery(dataset, selection, { format: "ndjson", range }),
      boundary: boundaryQuery(dataset, selection, { after, rows: 4000 }),
      sample: sampleQuery(rowsQuery(dataset, selection, "ndjson"), "ndjson"),
    },
    others: {
      count: countQuery(dataset, selection, 1_000_000),
      changed: rowsQuery(dataset, increment, "ndjson"),
      "changed count": countQuery(dataset, increment, 1_000_000),
      deleted: deletedQuery(increment, "ndjson"),
    },
  };
}

/** Yields a selection for each combination of flags under test. */
function* selectionsOf(projectId: string): Generator<ExportSelection> {
  const here = { trackerSchema: "public", projectId, asOf: LAST_TIME, filters: NO_FILTERS };
  for (const flags of [{}, { include_resolved: false }, { include_deleted: true, include_archived: true }]) {
    yield { ...here, visibility: toVisibility(flags) };
  }
}

/** Explains every query of a project. Returns the number of plans and their faults. */
async function checkPlans(
  snapshot: ExportSnapshot,
  projectId: string,
): Promise<{ checked: number; faults: string[] }> {
  const explain = async (query: string): Promise<Plan[]> => {
    const [row] = await snapshot.run((tx) =>
      tx.unsafe<[{ "QUERY PLAN": [{ Plan: Plan }] }]>(`explain (format json) ${query}`),
    );
    return nodesOf(row["QUERY PLAN"][0].Plan);
  };
  const faults: string[] = [];
  let checked = 0;
  for (const selection of selectionsOf(projectId)) {
    for (const dataset of Object.values(EXPORT_DATASETS)) {
      const { ordered, others } = queriesOf(dataset, selection);
      for (const [name, query] of Object.entries({ ...ordered, ...others })) {
        const nodes = await explain(query);
        const found = [...listFaults(nodes), ...(name in ordered ? listOrderFaults(nodes, dataset) : [])];
        faults.push(...found.map((fault) => `${dataset.name}, ${name}: ${fault}`));
        checked += 1;
      }
    }
  }
  return { checked, faults };
}

test("reads only the project's rows, in index order, even with a billion rows", async () => {
  const { db, projectIds } = await openBillionRows();
  await using _db = db;
  const { signal } = new AbortController();
  for (const isParallel of [false, true]) {
    const snapshot = await openExportSnapshot(db.sql, { control: db.sql, signal });
    if (isParallel) await snapshot.run(preferParallelCopies);
    for (const [size, projectId] of Object.entries(projectIds)) {
      expect([size, await checkPlans(snapshot, projectId)]).toEqual([
        size,
        { checked: 3 * 8 * 11, faults: [] },
      ]);
    }
    await snapshot.close();
  }
});
