/** Fixtures for tests of imports: a database with two organizations, a folder, and handmade bundles. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXPORT_DATASET_NAMES, type ExportDatasetName } from "../../../shared/exports/datasets.ts";
import { type AdminRun, runCommand } from "../accounts/admin.ts";
import { openTestDatabase, type TestDatabase } from "../postgres/database.ts";
import { createFactory } from "../postgres/factory.ts";

type Rows = Readonly<Partial<Record<ExportDatasetName, readonly object[]>>>;
export interface ImportPlace extends AsyncDisposable {
  db: TestDatabase;
  /** Returns a path in a folder that is deleted after the test. */
  file: (name: string) => string;
  import: (path: string, org?: string) => Promise<AdminRun>;
}

/** Creates a database with the organizations `here` and `there`, both owned by `ann`, and a folder for files. */
export async function openImportPlace(): Promise<ImportPlace> {
  const db = await openTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "import-"));
  const make = createFactory(db.sql);
  const ann = await make.user({ username: "ann" });
  for (const slug of ["here", "there"]) {
    const org = await make.org({ slug });
    await make.member({ orgId: org.id, userId: ann.id, role: "owner" });
  }
  return {
    db,
    file: (name) => join(folder, name),
    import: (path, org = "here") => runCommand(db.url, ["import", "--org", org, path, "--json"]),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true });
      await db[Symbol.asyncDispose]();
    },
  };
}

/** The creation time of all sample rows. */
const AT = "2026-01-10T10:00:00.123Z";

/** Returns related rows: a run, an issue that the run found, and one row of each other dataset. */
export function sampleRows(projectId: string): Record<ExportDatasetName, Record<string, unknown>[]> {
  const [runId, issueId] = [crypto.randomUUID(), crypto.randomUUID()];
  const base = { createdAt: AT };
  return {
    issues: [
      {
        id: issueId,
        projectId,
        fingerprint: createHash("sha256").update(issueId).digest("hex"),
        title: 'Tabs\t, "quotes", \\ backslash, \u2028, 🚀 and a line\nbreak',
        status: "open",
        priority: "high",
        agent: "",
        lineNumber: 7,
        firstSeenRunId: runId,
        lastSeenRunId: runId,
        timesSeen: 1,
        updatedAt: AT,
        ...base,
      },
    ],
    "issue-notes": [{ id: crypto.randomUUID(), issueId, content: "note", noteType: "context", ...base }],
    "status-history": [
      { id: crypto.randomUUID(), issueId, oldStatus: null, newStatus: "open", changedAt: AT, seq: 4711 },
    ],
    occurrences: [{ id: crypto.randomUUID(), issueId, runId, agentName: "lint", ...base }],
    runs: [
      { id: runId, projectId, runNumber: 1, workflowType: "audit", timestamp: AT, updatedAt: AT, ...base },
    ],
    "agent-snapshots": [
      {
        id: crypto.randomUUID(),
        runId,
        name: "lint",
        decision: "PASS",
        inputTokens: 2 ** 40,
        updatedAt: AT,
        ...base,
      },
    ],
    "analysis-summaries": [
      {
        id: crypto.randomUUID(),
        runId,
        agentName: "lint",
        agentType: "validator",
        decision: "PASS",
        ...base,
      },
    ],
    "analysis-records": [
      {
        id: crypto.randomUUID(),
        runId,
        agentName: "lint",
        agentType: "validator",
        recordType: "risk",
        recordId: "R-1",
        title: "risk",
        recordData: { deep: [{ a: null }] },
        ...base,
      },
    ],
  };
}

/** Returns the entries of a bundle with a correct manifest. `text` replaces the lines of a dataset. */
export function bundleEntries(
  project: { id: string; name: string },
  rows: Rows,
  text: Partial<Record<ExportDatasetName, string>> = {},
): Record<string, string> {
  const entries: Record<string, string> = {};
  const files: Record<string, object> = {};
  const rowCounts: Record<string, number> = {};
  for (const dataset of EXPORT_DATASET_NAMES) {
    const content = text[dataset] ?? (rows[dataset] ?? []).map((row) => `${JSON.stringify(row)}\n`).join("");
    const count = content.split("\n").length - 1;
    const sha256 = createHash("sha256").update(content).digest("hex");
    entries[`${dataset}.ndjson`] = content;
    rowCounts[dataset] = count;
    files[dataset] = { name: `${dataset}.ndjson`, rows: count, bytes: Buffer.byteLength(content), sha256 };
  }
  entries["manifest.json"] = JSON.stringify({ schemaVersion: 1, asOf: AT, project, rowCounts, files });
  return entries;
}

/**
 * Combines the bundles of several projects into the entries of an organization export. Each project's files are in its
 * `directory`.
 */
export function organizationEntries(
  projects: readonly { directory: string; entries: Record<string, string> }[],
): Record<string, string> {
  const all: Record<string, string> = {};
  const parts = projects.map(({ directory, entries }) => {
    for (const [name, content] of Object.entries(entries)) {
      if (name !== "manifest.json") all[`${directory}/${name}`] = content;
    }
    return { directory, ...JSON.parse(entries["manifest.json"] ?? "") };
  });
  return {
    ...all,
    "manifest.json": JSON.stringify({ schemaVersion: 1, kind: "organization", projects: parts }),
  };
}

/** Returns the total number of projects, runs and issues. */
export async function countTrackerRows(place: ImportPlace): Promise<number> {
  const [row] = await place.db.sql<[{ count: number }]>`
    select (select count(*) from projects) + (select count(*) from runs) + (select count(*) from issues) as count`;
  return row.count;
}
