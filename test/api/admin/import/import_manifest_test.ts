import { expect, test } from "bun:test";
import { planImport } from "../../../../api/admin/import/import_manifest.ts";
import { EXPORT_DATASET_NAMES } from "../../../../shared/exports/datasets.ts";

const ID = "0F8FAD5B-d9cb-469f-a165-70867728950e";
const rowCounts = Object.fromEntries(EXPORT_DATASET_NAMES.map((name, n) => [name, n]));
const bundle = {
  schemaVersion: 1,
  asOf: "2026-01-01T00:00:00.000Z",
  project: { id: ID, name: "P" },
  rowCounts,
};
const entryNames = new Set([...EXPORT_DATASET_NAMES.map((name) => `${name}.ndjson`), "manifest.json"]);

function reasonFor(manifest: unknown, names: ReadonlySet<string> = entryNames): string {
  const plan = planImport(JSON.stringify(manifest), names);
  return plan.ok ? "none" : plan.reason;
}

test("planImport() accepts a manifest with only row counts", () => {
  const plan = planImport(JSON.stringify(bundle), entryNames);
  expect(plan).toMatchObject({ ok: true, projects: [{ id: ID.toLowerCase(), name: "P" }] });
  expect(plan.ok && plan.projects[0]?.files["status-history"]).toEqual({
    entryName: "status-history.ndjson",
    rows: 2,
    bytes: null,
    sha256: null,
  });
});

test("planImport() accepts project names of up to 200 characters, counting an emoji as one", () => {
  const named = (name: string) => reasonFor({ ...bundle, project: { id: ID, name } });
  expect(named("😀".repeat(200))).toBe("none");
  expect(named("😀".repeat(201))).toContain("must have at most 200 characters");
  expect(named("")).toContain("must not be empty");
});

test("planImport() looks for a project's entries in the project's directory", () => {
  const { schemaVersion, ...part } = bundle;
  const manifest = { schemaVersion, projects: [{ ...part, directory: "P__0f8fad5b" }] };
  const inside = new Set([...entryNames].map((name) => `P__0f8fad5b/${name}`));
  expect(reasonFor(manifest, inside)).toBe("none");
  expect(reasonFor(manifest)).toBe('entry "P__0f8fad5b/issues.ndjson" is missing');
});

test("planImport() refuses increments for a project or an organization", () => {
  const increment = { ...bundle, since: "2025-12-31T00:00:00.000Z", deleted: { name: "deleted.ndjson" } };
  const names = new Set([...entryNames, "deleted.ndjson"]);
  expect(reasonFor(increment, names)).toContain("it is an increment");
  expect(reasonFor({ ...increment, projects: [] }, names)).toContain("it is an increment");
  expect(reasonFor({ ...bundle, since: null })).toBe("none");
});

test.each(["..", ".", "a/b", "a\\b", "", "a\u0000b"])(
  "planImport() refuses the directory %j",
  (directory) => {
    const { schemaVersion, ...part } = bundle;
    expect(reasonFor({ schemaVersion, projects: [{ ...part, directory }] })).toContain(
      "/projects/0/directory",
    );
  },
);

test("planImport() refuses manifests with unsupported or inconsistent content", () => {
  expect(reasonFor({ ...bundle, schemaVersion: 2 })).toContain("schemaVersion 2");
  expect(reasonFor({ ...bundle, project: { id: "1", name: "P" } })).toContain("not a UUID");
  expect(reasonFor({ ...bundle, project: { id: ID, name: "\u202egnp.exe" } })).toContain(
    "it contains U+202E",
  );
  expect(reasonFor({ ...bundle, project: { id: ID, name: "\u200b" } })).toContain("one visible character");
  expect(reasonFor({ ...bundle, format: "csv" })).toContain("the bundle is CSV");
  expect(reasonFor({ ...bundle, rowCounts: { ...rowCounts, runs: undefined } })).toContain(
    "no row count for runs",
  );
  expect(reasonFor({ ...bundle, rowCounts: { ...rowCounts, runs: -1 } })).toContain("/rowCounts/runs");
  const files = { runs: { name: "issues.ndjson" } };
  expect(reasonFor({ ...bundle, files })).toBe('manifest.json names entry "issues.ndjson" twice');
});
