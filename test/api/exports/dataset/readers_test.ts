/** Tests that common libraries read the texts of an export unchanged. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { DuckDBInstance } from "@duckdb/node-api";
import { neutralized } from "../../../helpers/definitions/nasty_text.ts";
import { type NastyExport, saveNastyExport } from "../../../helpers/exports/nasty_export.ts";

let saved: NastyExport;

beforeAll(async () => {
  saved = await saveNastyExport();
});

afterAll(() => saved[Symbol.asyncDispose]());

test("Node's readline reads one row per line of the NDJSON", async () => {
  const lines = createInterface({
    input: createReadStream(saved.files.ndjson),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  const byReadline = await Array.fromAsync(lines, (line) => JSON.parse(line).reason);
  expect(byReadline).toEqual([...saved.reasons]);
});

test("DuckDB reads every text of the NDJSON and the CSV, and the nulls of the CSV", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  // Reads the texts as base64, because DuckDB's Node binding drops a byte order mark from text.
  const read = async (source: string): Promise<unknown[]> => {
    const result = await connection.runAndReadAll(
      `select to_base64(encode(reason)) as reason from ${source}`,
    );
    return result
      .getRowObjectsJson()
      .map(({ reason }) => (typeof reason === "string" ? Buffer.from(reason, "base64").toString() : reason));
  };
  expect(await read(`read_ndjson('${saved.files.ndjson}')`)).toEqual([...saved.reasons]);
  const dialect = `header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', nullstr = ''`;
  const fromCsv = await read(`read_csv('${saved.files.csv}', ${dialect}, allow_quoted_nulls = false)`);
  expect(fromCsv).toEqual(saved.reasons.map((reason) => (reason === null ? null : neutralized(reason))));
  connection.closeSync();
  instance.closeSync();
});
