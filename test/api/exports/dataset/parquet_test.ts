/** Datasets in Parquet, read by DuckDB and compared with the NDJSON. */
import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { NASTY_TEXTS } from "../../../helpers/definitions/nasty_text.ts";
import {
  AFTER_ALL,
  type ExportProject,
  exportDataset,
  makeExportProject,
} from "../../../helpers/exports/export_project.ts";
import { readNdjson, readParquet } from "../../../helpers/exports/parquet_file.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";

const MAGIC = "PAR1";
const TEXT = 'żółć 👩‍👩‍👧‍👦 "quoted" \\ back\r\n\ttab \u0001 \u2028 \uFEFF =1+1';
const EVERYTHING: Readonly<Record<string, string>> = {
  include_deleted: "true",
  include_archived: "true",
  include_superseded: "true",
};

function queryOf(dataset: (typeof EXPORT_DATASET_NAMES)[number], format: string): string {
  const flags = EXPORT_DATASETS[dataset].flags.filter((flag) => flag in EVERYTHING);
  return `?as_of=${AFTER_ALL}&format=${format}${flags.map((flag) => `&${flag}=true`).join("")}`;
}

/** Sets columns of every type to extreme values, with at least one such column in each dataset. */
async function makeExtreme(app: TestApp, { ids }: ExportProject): Promise<void> {
  const { sql } = app.db;
  const long = "é\n".repeat(200_000);
  const json = `{"big": 123456789012345678901234567890.5, "deep": ${"[".repeat(50)}${"]".repeat(50)}, "t": "\\u2028é"}`;
  await sql`
    update issues
    set title = ${TEXT}, file_path = '', line_number = -2147483648, times_seen = 2147483647, severity = 'low',
      resolved_at = '0001-01-01T00:00:00Z', deleted_at = '9999-12-31T23:59:59.999Z',
      created_at = '1969-12-31T23:59:59.999Z', merged_into_issue_id = id, author_id = id
    where id = ${ids["open issue"] ?? ""}`;
  await sql`update issue_notes set content = ${TEXT}, created_by = '' where id = ${ids["open note"] ?? ""}`;
  await sql`
    update status_history
    set reason = ${TEXT}, old_status = '', seq = -9223372036854775808, run_id = id, transition_type = 'undo'
    where id = ${ids["open change"] ?? ""}`;
  await sql`update status_history set seq = 9223372036854775807 where id = ${ids["completed change"] ?? ""}`;
  await sql`
    update occurrences set description = ${TEXT}, file_path = '', line_number = 0
    where id = ${ids["open live occurrence"] ?? ""}`;
  await sql`
    update runs
    set raw_markdown = ${long}, average_score = 5e-324, all_gates_passed = true, timestamp = '1234-05-06T07:08:09.999Z',
      observed_count = -1, archived_at = '9999-12-31T23:59:59.999Z'
    where id = ${ids["live run"] ?? ""}`;
  await sql`update runs set all_gates_passed = false, average_score = 100 where id = ${ids["archived run"] ?? ""}`;
  await sql`
    update agent_snapshots
    set max_score = -1.7976931348623157e308, score = 0.1, input_tokens = 9007199254740993, output_tokens = 0, summary = ${TEXT}
    where id = ${ids["live snapshot"] ?? ""}`;
  await sql`
    update analysis_summaries
    set score = -0.0, system_metrics = ${json}::text::jsonb, category_scores = '{}', epistemic_assessment = 'null',
      audit_implications = '""', exploration_maps = '-1.50'
    where id = ${ids["live summary"] ?? ""}`;
  await sql`
    update analysis_records set record_data = 'null', title = ${TEXT}, superseded_at = '2026-01-01T00:00:00.001Z'
    where id = ${ids["live record"] ?? ""}`;
}

test("Parquet has the same values as NDJSON in every dataset, including extremes and nulls", async () => {
  await using app = await openTestApp({ config: { rateLimitUserPerMinute: 10_000 } });
  const made = await makeExportProject(app);
  await makeExtreme(app, made);
  for (const dataset of EXPORT_DATASET_NAMES) {
    const ndjson = readNdjson(
      await (await exportDataset(app, made, dataset, queryOf(dataset, "ndjson"))).text(),
      dataset,
    );
    const response = await exportDataset(app, made, dataset, queryOf(dataset, "parquet"));
    expect(response.headers.get("x-export-total-rows")).toBe(String(ndjson.length));
    const { rows, groups } = await readParquet(await response.bytes(), dataset);
    expect(rows).toEqual(ndjson);
    expect(groups.map((group) => group.rows)).toEqual([ndjson.length]);
    expect(ndjson.length).toBeGreaterThan(1);
  }
});

test("Parquet preserves every text", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const issue = await app.make.issue({ projectId: project.id, createdAt: "2026-01-01T00:00:00.000Z" });
  const texts = NASTY_TEXTS.filter((text) => text.length <= 1000);
  for (const [index, reason] of texts.entries()) {
    const changedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    await app.make.statusChange({ projectId: project.id, issueId: issue.id, reason, changedAt });
  }
  const response = await exportDataset(app, { person, project }, "status-history", "?format=parquet");
  const { rows } = await readParquet(await response.bytes(), "status-history");
  expect(rows.map((row) => row["reason"])).toEqual([...texts]);
});

test("a dataset without rows is a Parquet file with typed columns", async () => {
  await using app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const types = {
    uuid: "VARCHAR",
    text: "VARCHAR",
    integer: "INTEGER",
    number: "DOUBLE",
    boolean: "BOOLEAN",
  };
  const duckdbTypes = { ...types, timestamp: "TIMESTAMP WITH TIME ZONE", json: "JSON" };
  for (const dataset of EXPORT_DATASET_NAMES) {
    const response = await exportDataset(app, { person, project }, dataset, "?format=parquet");
    const file = await readParquet(await response.bytes(), dataset);
    const { columns } = EXPORT_DATASETS[dataset];
    expect([file.rows, file.groups]).toEqual([[], []]);
    expect(Object.entries(file.types)).toEqual(
      columns.map(({ name, type, bits }) => [name, bits === 64 ? "BIGINT" : duckdbTypes[type]]),
    );
  }
});

test("Parquet has its own media type and file extension, and no Content-Encoding", async () => {
  await using app = await openTestApp();
  const { person, project } = await makeExportProject(app);
  const path = `/api/v1/export/projects/${project.id}/issues?format=parquet&as_of=${AFTER_ALL}`;
  const headers = { "accept-encoding": "zstd, gzip" };
  for (const method of ["HEAD", "GET"]) {
    const response = await app.request(path, { key: person.key, method, headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("content-disposition")).toContain("-issues-2026-02-01T000000Z.parquet");
    expect(response.headers.get("x-export-as-of")).toBe(AFTER_ALL);
    expect(response.headers.get("x-export-total-rows")).toBe("2");
    const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
    expect([text.slice(0, 4), text.slice(-4)]).toEqual(method === "GET" ? [MAGIC, MAGIC] : ["", ""]);
  }
});

test("estimates accept Parquet, and every export refuses an unknown format", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const estimate = await exportDataset(app, made, "estimate", "?format=parquet");
  const { data } = (await estimate.json()) as { data: { estimatedBytes: number } };
  expect(data.estimatedBytes).toBeGreaterThan(0);
  for (const path of ["issues", "bundle", "estimate"] as const) {
    const response = await exportDataset(app, made, path, "?format=avro");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "VALIDATION_ERROR" } });
  }
});
