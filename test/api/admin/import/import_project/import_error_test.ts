import { expect, test } from "bun:test";
import { writeZip } from "../../../../helpers/exports/bundle_file.ts";
import {
  bundleEntries,
  countTrackerRows,
  openImportPlace,
  sampleRows,
} from "../../../../helpers/exports/import_place.ts";

test.each<[string, (rows: ReturnType<typeof sampleRows>) => void, RegExp]>([
  [
    "an occurrence without its issue",
    (rows) => rows.issues.pop(),
    /^issue-notes: a row belongs to issue [0-9a-f-]{36}, which is neither/,
  ],
  [
    "a snapshot without its run",
    (rows) => rows.runs.pop(),
    /: a row belongs to run [0-9a-f-]{36}, which is neither/,
  ],
  [
    "an unknown status",
    ({ issues: [row] }) => Object.assign(row ?? {}, { status: "new" }),
    /^issues: row [0-9a-f-]{36} has an invalid status/,
  ],
  [
    "a missing title",
    ({ issues: [row] }) => Object.assign(row ?? {}, { title: null }),
    /^issues: row [0-9a-f-]{36} has no title/,
  ],
  [
    "a row from another project",
    ({ runs: [row] }) => Object.assign(row ?? {}, { projectId: crypto.randomUUID() }),
    /^runs: row [0-9a-f-]{36} belongs to another project/,
  ],
  [
    "a duplicate run number",
    ({ runs }) => runs.push({ ...runs[0], id: crypto.randomUUID() }),
    /^runs: another row of the project already has runNumber 1/,
  ],
  [
    "an unknown column",
    ({ issues: [row] }) => Object.assign(row ?? {}, { mood: "bad" }),
    /^issues: line 1: unknown column "mood"$/,
  ],
])("import refuses %s and leaves no rows behind", async (_, spoil, reason) => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Spoilt" };
  const rows = sampleRows(project.id);
  spoil(rows);
  await writeZip(place.file("a.zip"), bundleEntries(project, rows));
  const { exitCode, out, err } = await place.import(place.file("a.zip"));
  expect([exitCode, JSON.parse(out).error.message]).toEqual([1, err.trimEnd()]);
  expect(err).toStartWith('Cannot import project "Spoilt": ');
  expect(err.slice('Cannot import project "Spoilt": '.length).trimEnd()).toMatch(reason);
  expect(err.trimEnd()).not.toContain("\n");
  expect(await countTrackerRows(place)).toBe(0);
});

test.each([
  ["broken JSON", '{"id": "COPY import_stage, line 9" }}\n', "line 1 is not a JSON object"],
  ["an empty line", "\n", "line 1 is not a JSON object"],
  ["the end marker of COPY", '\\.\n{"id": 1}\n', "line 1 is not a JSON object"],
  ["a control character", '{"title": "\u0001"}\n', "line 1 is not a JSON object"],
  ["an array", "[1]\n", "line 1 is not a JSON object"],
])("import refuses lines with %s", async (_, lines, reason) => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Lines" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id), { issues: lines }));
  const { exitCode, err } = await place.import(place.file("a.zip"));
  expect(exitCode).toBe(1);
  expect(err).toContain(`issues: ${reason}`);
  expect(await countTrackerRows(place)).toBe(0);
});

const INSTANT = 'an instant like "2026-01-31T12:00:00.000Z"';

test.each<[string, object, string]>([
  ["the word now", { createdAt: "now" }, `createdAt must be ${INSTANT}`],
  ["a relative day", { createdAt: "yesterday" }, `createdAt must be ${INSTANT}`],
  ["an infinite time", { resolvedAt: "infinity" }, `resolvedAt must be ${INSTANT}, or null`],
  [
    "a year of five digits",
    { resolvedAt: "20231-05-01T00:00:00.000Z" },
    `resolvedAt must be ${INSTANT}, or null`,
  ],
  [
    "a time before Christ",
    { resolvedAt: "0044-03-15T00:00:00.000Z BC" },
    `resolvedAt must be ${INSTANT}, or null`,
  ],
  ["an instant without its offset", { updatedAt: "2026-01-01 05:00" }, `updatedAt must be ${INSTANT}`],
  ["microseconds", { createdAt: "2026-01-01T05:00:00.123999Z" }, `createdAt must be ${INSTANT}`],
  ["a number in a string", { timesSeen: "5" }, "timesSeen must be a 32-bit integer"],
  ["a fraction", { timesSeen: 5.4 }, "timesSeen must be a 32-bit integer"],
  ["an integer that is too large", { lineNumber: 2 ** 31 }, "lineNumber must be a 32-bit integer, or null"],
  ["a number instead of a string", { title: 5 }, "title must be a string"],
  ["an object instead of a string", { title: { a: 1 } }, "title must be a string"],
  ["an id without hyphens", { authorId: "0".repeat(32) }, "authorId must be a UUID, or null"],
  ["a NUL character", { title: "a\0b" }, "title contains a character that PostgreSQL cannot store"],
])("import refuses a row with %s, which no export contains", async (_, values, reason) => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Values" };
  const rows = sampleRows(project.id);
  const fingerprint = "0".repeat(64);
  rows.issues.push({ ...rows.issues[0], id: crypto.randomUUID(), fingerprint, ...values });
  await writeZip(place.file("a.zip"), bundleEntries(project, rows));
  const { exitCode, out, err } = await place.import(place.file("a.zip"));
  expect([exitCode, JSON.parse(out).error.message]).toEqual([1, err.trimEnd()]);
  expect(err).toStartWith(`Cannot import project "Values": issues: line 2: ${reason}`);
  expect(err.trimEnd()).not.toContain("\n");
  expect(await countTrackerRows(place)).toBe(0);
});

test("import refuses an instant whose offset moves it outside the years 1 to 9999", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Offset" };
  const rows = sampleRows(project.id);
  for (const resolvedAt of ["0001-01-01T00:00:00.000+01:00", "9999-12-31T23:59:59.000-01:00"]) {
    Object.assign(rows.issues[0] ?? {}, { resolvedAt });
    await writeZip(place.file("a.zip"), bundleEntries(project, rows));
    expect(await place.import(place.file("a.zip"))).toMatchObject({
      exitCode: 1,
      err: `Cannot import project "Offset": issues: row ${rows.issues[0]?.["id"]} has a time outside the years 1 to 9999 as resolvedAt\n`,
    });
    expect(await countTrackerRows(place)).toBe(0);
  }
});

test("import refuses a number that no column can hold", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Numbers" };
  const rows = sampleRows(project.id);
  const text = JSON.stringify({ ...rows["agent-snapshots"][0], score: 0 }).replace(
    '"score":0',
    '"score":1e-400',
  );
  await writeZip(place.file("a.zip"), bundleEntries(project, rows, { "agent-snapshots": `${text}\n` }));
  const { exitCode, err } = await place.import(place.file("a.zip"));
  expect(exitCode).toBe(1);
  expect(err).toContain("agent-snapshots: a row has a number that is too large or too close to zero");
});

test("import refuses a project of another organization, a taken name and a deleted project", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Mine" };
  await writeZip(place.file("a.zip"), bundleEntries(project, sampleRows(project.id)));
  await place.import(place.file("a.zip"));
  expect((await place.import(place.file("a.zip"), "there")).err).toContain("belongs to another organization");
  const namesake = { id: crypto.randomUUID(), name: "Mine" };
  await writeZip(place.file("b.zip"), bundleEntries(namesake, sampleRows(namesake.id)));
  expect((await place.import(place.file("b.zip"))).err).toContain(
    'Another project in organization "here" has this name',
  );
  await place.db.sql`update projects set deleted_at = now()`;
  expect((await place.import(place.file("a.zip"))).err).toContain("it was deleted");
});

test.each<[string, (entries: Record<string, string>) => void, string]>([
  ["no manifest", (entries) => delete entries["manifest.json"], "it has no manifest.json at the top"],
  [
    "a manifest that is not JSON",
    (entries) => Object.assign(entries, { "manifest.json": "{" }),
    "manifest.json is not JSON",
  ],
  [
    "a manifest of another kind",
    (entries) => Object.assign(entries, { "manifest.json": "{}" }),
    "manifest.json is invalid",
  ],
  ["a missing dataset", (entries) => delete entries["runs.ndjson"], 'entry "runs.ndjson" is missing'],
  [
    "an entry that the manifest does not list",
    (entries) => Object.assign(entries, { "more.ndjson": "" }),
    'entry "more.ndjson" is not in manifest.json',
  ],
  ["CSV files", (entries) => Object.assign(entries, { "issues.csv": "" }), "the bundle is CSV"],
  [
    "a wrong checksum",
    (entries) => Object.assign(entries, { "runs.ndjson": entries["runs.ndjson"]?.replace("audit", "Audit") }),
    'entry "runs.ndjson" does not match manifest.json: sha256',
  ],
  [
    "fewer rows than the manifest states",
    (entries) => Object.assign(entries, { "runs.ndjson": "" }),
    'entry "runs.ndjson" does not match manifest.json: rows 0 instead of 1',
  ],
  [
    "an entry name that leads outside the archive",
    (entries) => Object.assign(entries, { "../x.ndjson": "" }),
    "cannot be read",
  ],
])("import refuses an archive with %s", async (_, spoil, reason) => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Archive" };
  const entries = bundleEntries(project, sampleRows(project.id));
  spoil(entries);
  await writeZip(place.file("a.zip"), entries);
  const { exitCode, err } = await place.import(place.file("a.zip"));
  expect(exitCode).toBe(1);
  expect(err).toContain(reason);
  expect(await countTrackerRows(place)).toBe(0);
});

test("import refuses a file that is truncated, not a ZIP or missing", async () => {
  await using place = await openImportPlace();
  const project = { id: crypto.randomUUID(), name: "Cut" };
  await writeZip(place.file("whole.zip"), bundleEntries(project, sampleRows(project.id)));
  const whole = await Bun.file(place.file("whole.zip")).bytes();
  await Bun.write(place.file("cut.zip"), whole.subarray(0, whole.length - 100));
  await Bun.write(
    place.file("text.zip"),
    "no archive, only text that is long enough to look for a directory in",
  );
  for (const name of ["cut.zip", "text.zip", "absent.zip"]) {
    const { exitCode, err } = await place.import(place.file(name));
    expect(exitCode).toBe(1);
    expect(err).toMatch(/^Cannot import "[^"]+": (the archive cannot be read|no such file)/);
  }
});
