import { expect, test } from "bun:test";
import { EXPORT_DATASET_NAMES } from "../../../shared/exports/datasets.ts";
import {
  AFTER_ALL,
  exportDataset,
  makeExportProject,
  ndjsonRows,
} from "../../helpers/exports/export_project.ts";
import { openTestApp } from "../../helpers/http/app.ts";

interface ListedDataset {
  name: string;
  timeColumn: string;
  columns: { name: string; type: string; nullable: boolean; description: string }[];
  filters: string[];
  jsonSchema: {
    required: string[];
    additionalProperties: boolean;
    properties: Record<string, { type?: string | string[]; enum?: unknown[] }>;
  };
}

/** Returns the JSON Schema types of a value parsed from JSON. */
function typesOf(value: unknown): string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value !== "number") return [typeof value];
  return Number.isInteger(value) ? ["integer", "number"] : ["number"];
}

/** Returns the names of fields whose values the dataset's JSON Schema does not allow. */
function findMisfits(dataset: ListedDataset, row: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(row)
    .filter(([name, value]) => {
      const { type, enum: values } = dataset.jsonSchema.properties[name] ?? {};
      const isOfType = type === undefined || typesOf(value).some((word) => [type].flat().includes(word));
      return !isOfType || (values && !values.includes(value));
    })
    .map(([name]) => name);
}

test("GET /export/datasets is public, and its columns and JSON Schemas match the exported rows", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  const response = await app.request("/api/v1/export/datasets");
  const { data } = (await response.json()) as { data: { datasets: ListedDataset[] } };
  expect(data.datasets.map((dataset) => dataset.name)).toEqual([...EXPORT_DATASET_NAMES]);
  for (const dataset of data.datasets) {
    const names = dataset.columns.map((column) => column.name);
    expect(names).toContain(dataset.timeColumn);
    expect(dataset.columns.every((column) => column.description.length > 0)).toBe(true);
    expect(dataset.jsonSchema.required).toEqual(names);
    const name = EXPORT_DATASET_NAMES.find((candidate) => candidate === dataset.name) ?? "issues";
    const rows = await ndjsonRows(await exportDataset(app, made, name, `?as_of=${AFTER_ALL}`));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(names);
      expect(findMisfits(dataset, row)).toEqual([]);
    }
  }
});

test("a JSON column is nullable in the list and in the JSON Schema, because JSON null is a value", async () => {
  await using app = await openTestApp();
  const made = await makeExportProject(app);
  await app.db.sql`update analysis_records set record_data = 'null'`;
  const response = await app.request("/api/v1/export/datasets");
  const { data } = (await response.json()) as { data: { datasets: ListedDataset[] } };
  const records = data.datasets.find(({ name }) => name === "analysis-records");
  if (!records) throw new Error("Cannot find the dataset");
  expect(records.columns.find(({ name }) => name === "recordData")).toMatchObject({ nullable: true });
  expect(records.jsonSchema.properties["recordData"]?.type).toContain("null");
  expect(records.columns.find(({ name }) => name === "title")).toMatchObject({ nullable: false });
  const rows = await ndjsonRows(await exportDataset(app, made, "analysis-records", `?as_of=${AFTER_ALL}`));
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    expect(row["recordData"]).toBeNull();
    expect(findMisfits(records, row)).toEqual([]);
  }
});

test("GET /export/datasets rejects query parameters and lists them in the error", async () => {
  await using app = await openTestApp();
  const response = await app.request("/api/v1/export/datasets?dataset=issues&format=csv&format=ndjson");
  const { error } = (await response.json()) as { error: { code: string; details: unknown } };
  expect([response.status, error.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(error.details).toMatchObject({ errors: [{ path: "dataset" }, { path: "format" }] });
});
