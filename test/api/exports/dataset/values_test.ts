import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseString } from "fast-csv";
import { EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { NASTY_TEXTS, neutralized, storableText } from "../../../helpers/definitions/nasty_text.ts";
import { exportDataset, ndjsonRows } from "../../../helpers/exports/export_project.ts";
import { readParquet } from "../../../helpers/exports/parquet_file.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import type { Person, ProjectRow } from "../../../helpers/postgres/factory.ts";

const BYTE_ORDER_MARK = "\uFEFF";

async function openProject(app: TestApp): Promise<{ person: Person; project: ProjectRow }> {
  const person = await app.make.person();
  return { person, project: await app.make.project({ orgId: person.org.id, ownerId: person.user.id }) };
}

/** Returns the rows that fast-csv reads, header first. */
async function csvRows(text: string): Promise<string[][]> {
  const rows: string[][] = [];
  await new Promise<void>((resolve, reject) => {
    parseString<string[], string[]>(text, { headers: false, ignoreEmpty: false })
      .on("data", (row) => rows.push(row))
      .on("error", reject)
      .on("end", () => resolve());
  });
  return rows;
}

test("exports preserve every text: unchanged in NDJSON, neutralized in CSV", async () => {
  await using app = await openTestApp({ config: { rateLimitUserPerMinute: 100_000 } });
  const { person, project } = await openProject(app);
  const issue = await app.make.issue({ projectId: project.id });
  // Each export has many texts, because an export is slow on a Citus cluster.
  const texts = fc.array(storableText(200), { minLength: 34, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(texts, async (contents) => {
      await app.db.sql`delete from status_history`;
      // Uses `reason`, because a reason may be empty, unlike the content of a note.
      await app.make.together(async ({ statusChange }) => {
        for (const [index, reason] of contents.entries()) {
          const changedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, 0, index)).toISOString();
          await statusChange({ projectId: project.id, issueId: issue.id, reason, changedAt });
        }
      });
      const ndjson = await ndjsonRows(await exportDataset(app, { person, project }, "status-history"));
      expect(ndjson.map((row) => row["reason"])).toEqual(contents);
      const response = await exportDataset(app, { person, project }, "status-history", "?format=csv");
      const [header = [], ...rows] = await csvRows(await response.text());
      expect(header).toEqual(EXPORT_DATASETS["status-history"].columns.map((column) => column.name));
      const reason = header.indexOf("reason");
      expect(rows.map((row) => row[reason])).toEqual(contents.map(neutralized));
    }),
    { numRuns: 12, seed: 20_261_121 },
  );
});

test("exports preserve every digit of JSON numbers, nested in NDJSON and as text in CSV", async () => {
  await using app = await openTestApp();
  const { person, project } = await openProject(app);
  const run = await app.make.run({ projectId: project.id });
  const deep = `${"[".repeat(60)}1${"]".repeat(60)}`;
  const documents = [
    '{"big": 123456789012345678901234567890.12345678901234567890, "trailing": 1.50}',
    `{"deep": ${deep}, "nul": "no \\\\u0000 here", "line": "a\\nb\\r\\n", "sep": "\\u2028"}`,
    '{"quote": "\\"", "slash": "\\\\", "emoji": "👩‍👩‍👧‍👦", "empty": {}, "list": [], "null": null}',
    "-5",
    '"=1+1"',
    "true",
    `{"megabyte": "${"é\\n".repeat(350_000)}"}`,
  ];
  for (const [index, document] of documents.entries()) {
    await app.db.sql`
      insert into analysis_records
        (project_id, run_id, agent_name, agent_type, record_type, record_id, title, record_data, created_at)
      values (${project.id}, ${run.id}, 'a', 'analyst', 't', 'r', 't', ${document}::text::jsonb,
        ${new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString()})`;
  }
  const stored = await app.db.sql<{ text: string }[]>`
    select record_data::text as text from analysis_records order by created_at`;
  const lines = (await (await exportDataset(app, { person, project }, "analysis-records")).text()).split(
    "\n",
  );
  for (const [index, { text }] of stored.entries()) {
    // The export escapes U+2028, because some readers treat it as a line ending.
    expect(lines[index]).toContain(`"recordData":${text.replaceAll("\u2028", "\\u2028")},"`);
  }
  const csv = await exportDataset(app, { person, project }, "analysis-records", "?format=csv");
  const [header = [], ...rows] = await csvRows(await csv.text());
  const column = header.indexOf("recordData");
  expect(rows.map((row) => row[column])).toEqual(stored.map(({ text }) => text));
});

test("JSON null and SQL null are exported as null in every format", async () => {
  await using app = await openTestApp();
  const made = await openProject(app);
  const run = await app.make.run({ projectId: made.project.id });
  const row = { projectId: made.project.id, runId: run.id };
  await app.make.summary(row);
  await app.make.record(row);
  const columns = { "analysis-summaries": "systemMetrics", "analysis-records": "recordData" } as const;
  for (const value of ["SQL", "JSON"]) {
    if (value === "JSON") await app.db.sql`update analysis_summaries set system_metrics = 'null'`;
    await app.db.sql`update analysis_records set record_data = 'null'`;
    for (const dataset of ["analysis-summaries", "analysis-records"] as const) {
      const name = columns[dataset];
      const [line = ""] = (await (await exportDataset(app, made, dataset)).text()).split("\n");
      expect(JSON.parse(line)[name]).toBeNull();
      const csv = await (await exportDataset(app, made, dataset, "?format=csv")).text();
      const [header = [], cells = []] = await csvRows(csv);
      expect([cells[header.indexOf(name)], csv.includes('"null"')]).toEqual(["", false]);
      const parquet = await exportDataset(app, made, dataset, "?format=parquet");
      expect((await readParquet(await parquet.bytes(), dataset)).rows).toMatchObject([{ [name]: null }]);
    }
  }
});

test("numbers, booleans, timestamps and ids are unchanged, and CSV distinguishes null from the empty string", async () => {
  await using app = await openTestApp();
  const { person, project } = await openProject(app);
  const row = { projectId: project.id, createdAt: "2026-01-01T00:00:00.100Z" };
  const run = await app.make.run({
    ...row,
    allGatesPassed: true,
    averageScore: 1 / 3,
    observedCount: -7,
    rawMarkdown: "",
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  await app.make.snapshot({ ...row, runId: run.id, inputTokens: "9007199254740993", maxScore: 1e21 });
  const [exported = {}] = await ndjsonRows(await exportDataset(app, { person, project }, "runs"));
  expect(exported).toMatchObject({
    id: run.id,
    projectId: project.id,
    allGatesPassed: true,
    averageScore: 1 / 3,
    observedCount: -7,
    rawMarkdown: "",
    archiveReason: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    createdAt: "2026-01-01T00:00:00.100Z",
  });
  expect(Object.keys(exported)).toEqual(EXPORT_DATASETS.runs.columns.map((column) => column.name));
  const [header = "", line = ""] = (
    await (await exportDataset(app, { person, project }, "runs", "?format=csv")).text()
  ).split("\r\n");
  expect(header).toStartWith("id,projectId,");
  expect(line).toStartWith(`${run.id},${project.id},,`);
  expect(line).toContain(',2026-01-01T00:00:00.000Z,true,0.3333333333333333,"",,,,');
  expect(line).toContain(",-7,2026-01-01T00:00:00.100Z,");
  const snapshot = await (await exportDataset(app, { person, project }, "agent-snapshots")).text();
  expect(snapshot).toContain('"inputTokens":9007199254740993,');
  expect(snapshot).toContain('"maxScore":1e+21,');
});

test("an empty dataset is an empty NDJSON file and a CSV file with only a header", async () => {
  await using app = await openTestApp();
  const made = await openProject(app);
  const ndjson = await exportDataset(app, made, "issues");
  expect([ndjson.status, ndjson.headers.get("x-export-total-rows"), await ndjson.text()]).toEqual([
    200,
    "0",
    "",
  ]);
  const csv = await exportDataset(app, made, "issue-notes", "?format=csv");
  const bytes = new Uint8Array(await csv.arrayBuffer());
  expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)).toBe(
    `${BYTE_ORDER_MARK}id,issueId,content,noteType,createdBy,createdAt\r\n`,
  );
});

test("rows are sorted by their time and then their id", async () => {
  await using app = await openTestApp();
  const made = await openProject(app);
  for (const second of [3, 1, 2, 1, 1]) {
    const createdAt = `2026-01-01T00:00:0${second}.000Z`;
    await app.make.issue({ projectId: made.project.id, createdAt, title: NASTY_TEXTS[second] ?? "" });
  }
  const rows = await ndjsonRows(await exportDataset(app, made, "issues"));
  const keys = rows.map((row) => `${row["createdAt"]} ${row["id"]}`);
  expect(keys).toEqual([...keys].sort());
  expect(keys).toHaveLength(5);
});
