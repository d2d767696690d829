/** What programs that people use for such files read must equal what is in the database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DuckDBInstance } from "@duckdb/node-api";
import { EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { NASTY_TEXTS, neutralized } from "../../../helpers/definitions/nasty_text.ts";
import { exportDataset } from "../../../helpers/exports/export_project.ts";
import { openTestApp, type TestApp } from "../../../helpers/http/app.ts";
import { runCommand } from "../../../helpers/process/command.ts";

let directory: string;
let app: TestApp;
let files: Readonly<Record<"ndjson" | "csv", string>>;

/** Nasty texts as reasons of status changes, oldest first, and one that is null. */
const REASONS: readonly (string | null)[] = [...NASTY_TEXTS.filter((text) => text.length <= 1000), null];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ulr-readers-"));
  app = await openTestApp();
  const person = await app.make.person();
  const project = await app.make.project({ orgId: person.org.id, ownerId: person.user.id });
  const issue = await app.make.issue({ projectId: project.id });
  for (const [index, reason] of REASONS.entries()) {
    const changedAt = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    await app.make.statusChange({ projectId: project.id, issueId: issue.id, reason, changedAt });
  }
  const save = async (format: "ndjson" | "csv"): Promise<string> => {
    const path = join(directory, `status-history.${format}`);
    const response = await exportDataset(app, { person, project }, "status-history", `?format=${format}`);
    await Bun.write(path, await response.arrayBuffer());
    return path;
  };
  files = { ndjson: await save("ndjson"), csv: await save("csv") };
});

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

test("jq reads every text of the NDJSON", async () => {
  const { stdout } = await runCommand(["jq", "--compact-output", "--slurp", "map(.reason)", files.ndjson]);
  expect(JSON.parse(stdout)).toEqual(REASONS);
});

test("programs that split at any Unicode line end see one row a line in the NDJSON", async () => {
  const program = `
import codecs, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    print(json.dumps([json.loads(line)["reason"] for line in file.read().splitlines()]))
with codecs.open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([json.loads(line)["reason"] for line in file]))`;
  const { stdout, stderr } = await runCommand(["python3", "-c", program, files.ndjson]);
  expect(stderr).toBe("");
  const [bySplitting = "", byIterating = ""] = stdout.split("\n");
  expect([JSON.parse(bySplitting), JSON.parse(byIterating)]).toEqual([REASONS, REASONS]);
  const lines = createInterface({
    input: createReadStream(files.ndjson),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  const byReadline = await Array.fromAsync(lines, (line) => JSON.parse(line).reason);
  expect(byReadline).toEqual([...REASONS]);
});

test("Python's csv module reads every text of the CSV", async () => {
  const program = `
import csv, json, sys
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    print(json.dumps([row["reason"] for row in csv.DictReader(file, strict=True)]))`;
  const { stdout, stderr } = await runCommand(["python3", "-c", program, files.csv]);
  expect(stderr).toBe("");
  // It does not tell an empty field from an empty string.
  expect(JSON.parse(stdout)).toEqual(REASONS.map((reason) => neutralized(reason ?? "")));
});

test("LibreOffice reads every text of the CSV, though it separates fields at semicolons and tabs too", async () => {
  // As its dialog has them at first: tab, comma and semicolon.
  const opened = "Text - txt - csv (StarCalc):9/44/59,34,76,1";
  const saved = "Text - txt - csv (StarCalc):44,34,76,1,,0,true";
  const { stdout, stderr } = await runCommand([
    ...["soffice", `-env:UserInstallation=file://${join(directory, "office")}`, "--headless"],
    ...["--convert-to", `csv:${saved}`, `--infilter=${opened}`],
    ...["--outdir", join(directory, "opened"), files.csv],
  ]);
  const path = /-> (\S+)/.exec(stdout)?.[1] ?? "";
  expect(path || stderr).toContain("opened/status-history");
  const program = `
import csv, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    print(json.dumps(list(csv.reader(file, strict=True))))`;
  const read = await runCommand(["python3", "-c", program, path]);
  const [header, ...rows] = JSON.parse(read.stdout) as string[][];
  const names = EXPORT_DATASETS["status-history"].columns.map(({ name }) => name);
  expect(header).toEqual(names);
  const column = names.indexOf("reason");
  // It shows line ends as LF, and drops control characters.
  const shown = (text: string) => text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\t\n]/gu, "");
  expect(rows.map((row) => [row.length, shown(row[column] ?? "")])).toEqual(
    REASONS.map((reason) => [names.length, shown(neutralized(reason ?? ""))]),
  );
});

test("DuckDB reads every text of both, and of the CSV also what is null", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  // As base64, because the binding decodes text with a decoder that swallows a byte order mark.
  const read = async (source: string): Promise<unknown[]> => {
    const result = await connection.runAndReadAll(
      `select to_base64(encode(reason)) as reason from ${source}`,
    );
    return result
      .getRowObjectsJson()
      .map(({ reason }) => (typeof reason === "string" ? Buffer.from(reason, "base64").toString() : reason));
  };
  expect(await read(`read_ndjson('${files.ndjson}')`)).toEqual([...REASONS]);
  const dialect = `header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', nullstr = ''`;
  const fromCsv = await read(`read_csv('${files.csv}', ${dialect}, allow_quoted_nulls = false)`);
  expect(fromCsv).toEqual(REASONS.map((reason) => (reason === null ? null : neutralized(reason))));
  connection.closeSync();
  instance.closeSync();
});
