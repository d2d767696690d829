/** Tests that common programs read the texts of an export unchanged. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { EXPORT_DATASETS } from "../../../../shared/exports/datasets.ts";
import { neutralized } from "../../../helpers/definitions/nasty_text.ts";
import { type NastyExport, saveNastyExport } from "../../../helpers/exports/nasty_export.ts";
import { runCommand } from "../../../helpers/process/command.ts";

let saved: NastyExport;

beforeAll(async () => {
  saved = await saveNastyExport();
});

afterAll(() => saved[Symbol.asyncDispose]());

test("jq reads every text of the NDJSON", async () => {
  const { stdout } = await runCommand([
    "jq",
    "--compact-output",
    "--slurp",
    "map(.reason)",
    saved.files.ndjson,
  ]);
  expect(JSON.parse(stdout)).toEqual(saved.reasons);
});

test("programs that split at any Unicode line ending read one row per line of the NDJSON", async () => {
  const program = `
import codecs, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    print(json.dumps([json.loads(line)["reason"] for line in file.read().splitlines()]))
with codecs.open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([json.loads(line)["reason"] for line in file]))`;
  const { stdout, stderr } = await runCommand(["python3", "-c", program, saved.files.ndjson]);
  expect(stderr).toBe("");
  const [bySplitting = "", byIterating = ""] = stdout.split("\n");
  expect([JSON.parse(bySplitting), JSON.parse(byIterating)]).toEqual([saved.reasons, saved.reasons]);
});

test("Python's csv module reads every text of the CSV", async () => {
  const program = `
import csv, json, sys
with open(sys.argv[1], encoding="utf-8-sig", newline="") as file:
    print(json.dumps([row["reason"] for row in csv.DictReader(file, strict=True)]))`;
  const { stdout, stderr } = await runCommand(["python3", "-c", program, saved.files.csv]);
  expect(stderr).toBe("");
  // Python's csv module does not distinguish an empty field (null) from a quoted empty string.
  expect(JSON.parse(stdout)).toEqual(saved.reasons.map((reason) => neutralized(reason ?? "")));
});

test("LibreOffice reads every text of the CSV, although it also splits fields at semicolons and tabs", async () => {
  // The default separators of LibreOffice's import dialog: tab, comma and semicolon.
  const opened = "Text - txt - csv (StarCalc):9/44/59,34,76,1";
  const dialect = "Text - txt - csv (StarCalc):44,34,76,1,,0,true";
  const { stdout, stderr } = await runCommand([
    ...["soffice", `-env:UserInstallation=file://${join(saved.directory, "office")}`, "--headless"],
    ...["--convert-to", `csv:${dialect}`, `--infilter=${opened}`],
    ...["--outdir", join(saved.directory, "opened"), saved.files.csv],
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
  // LibreOffice converts line breaks to LF and drops control characters.
  const shown = (text: string) => text.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\t\n]/gu, "");
  expect(rows.map((row) => [row.length, shown(row[column] ?? "")])).toEqual(
    saved.reasons.map((reason) => [names.length, shown(neutralized(reason ?? ""))]),
  );
});
