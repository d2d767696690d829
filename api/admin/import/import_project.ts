/** Imports one project of a bundle, completely or not at all. */
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
} from "../../../shared/exports/datasets.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { OrgRow } from "../../../sql/accounts/orgs.ts";
import { findProjectById, type ProjectRow } from "../../../sql/accounts/projects.ts";
import { type Sql, statementErrorOf } from "../../../sql/connection/pool.ts";
import {
  advanceStatusSequence,
  clearImportStage,
  createImportStage,
  findDifferentRow,
  insertImportLines,
  insertStaged,
} from "../../../sql/tracker/tracker_import.ts";
import { addProject } from "../../accounts/organizations/project_changes.ts";
import { AdminError, OPERATOR } from "../command/command.ts";
import { findProjectOwner } from "../command/lookups.ts";
import { readLines } from "./entry_lines.ts";
import { describeImportError } from "./import_error.ts";
import type { ImportFile, ImportProject } from "./import_manifest.ts";
import { NO_OBJECT, rowCheck } from "./import_row.ts";
import { type ZipFileEntry, ZipFileError } from "./zip_file.ts";

/** Longest JSON of a row; a report of 500,000 characters is well below it. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Parents first: children refer to them. */
const DATASET_ORDER: readonly ExportDatasetName[] = [
  "runs",
  "issues",
  ...EXPORT_DATASET_NAMES.filter((name) => name !== "runs" && name !== "issues"),
];

interface ImportSource {
  org: OrgRow;
  /** Username of the owner of new projects; the member with the highest role if undefined. */
  owner: string | undefined;
  entries: ReadonlyMap<string, ZipFileEntry>;
  /** Added to every time of the rows; 0 if undefined. */
  shiftMs?: number;
  /** The project to fill, if not the one of the bundle. */
  target?: Pick<ImportProject, "id" | "name">;
  /** Called for each row that is read. */
  onRow: () => void;
}

export interface ImportedProject {
  id: string;
  name: string;
  /** Rows of the bundle by dataset, including those that existed before. */
  rowCounts: Record<string, number>;
  insertedRows: number;
}

/** Imports a project. Call inside its own transaction. Throws AdminError for what the operator can act on. */
export async function importProject(
  tx: Sql,
  project: ImportProject,
  source: ImportSource,
): Promise<ImportedProject> {
  const target = await findOrCreateProject(tx, source.target ?? project, source);
  const imported: ImportedProject = { id: target.id, name: target.name, rowCounts: {}, insertedRows: 0 };
  await createImportStage(tx);
  for (const name of DATASET_ORDER) {
    const file = project.files[name];
    imported.rowCounts[name] = file.rows;
    imported.insertedRows += await importDataset(tx, { name, file, project, target, source });
    await clearImportStage(tx);
  }
  await advanceStatusSequence(tx, target.id);
  await insertAuditEntry(tx, {
    actorType: "operator",
    action: "project.import",
    subject: { type: "project", id: target.id },
    orgId: source.org.id,
    details: { name: target.name, insertedRows: imported.insertedRows },
  });
  return imported;
}

/** Returns the project with this id, which keeps its present name, or creates it. */
async function findOrCreateProject(
  tx: Sql,
  { id, name }: Pick<ImportProject, "id" | "name">,
  { org, owner }: ImportSource,
): Promise<ProjectRow> {
  const found = await findProjectById(tx, id);
  if (!found)
    return addProject(tx, {
      ...{ id, org, name, actor: OPERATOR },
      ownerId: await findProjectOwner(tx, { org, owner }),
    });
  if (found.orgId !== org.id) {
    throw new AdminError(`Cannot import project "${name}": its id ${id} belongs to another organization`);
  }
  if (found.deletedAt)
    throw new AdminError(`Cannot import project "${name}": it was deleted ${found.deletedAt}`);
  return found;
}

interface DatasetImport {
  name: ExportDatasetName;
  file: ImportFile;
  /** In the bundle. */
  project: ImportProject;
  target: ProjectRow;
  source: ImportSource;
}

/** Stages the dataset's lines, inserts rows with new ids, and returns their number. */
async function importDataset(tx: Sql, options: DatasetImport): Promise<number> {
  const { name, file, project, target, source } = options;
  const dataset = EXPORT_DATASETS[name];
  const rows = { dataset, fromProjectId: project.id, projectId: target.id, shiftMs: source.shiftMs ?? 0 };
  const fail = (reason: string): never => {
    throw new AdminError(`Cannot import project "${target.name}": ${reason}`);
  };
  try {
    const fault = await stageLines(tx, { dataset, file, source });
    if (fault !== null) fail(`${name}: ${fault}`);
    const inserted = await insertStaged(tx, rows);
    if (inserted < file.rows) {
      const id = await findDifferentRow(tx, rows);
      if (id !== null) fail(`${name}: row ${id} already exists with different content`);
    }
    return inserted;
  } catch (error) {
    const rejected = statementErrorOf(error);
    if (rejected) return fail(describeImportError(rejected, dataset));
    if (error instanceof ZipFileError) return fail(error.message);
    throw error;
  }
}

interface StagedFile {
  dataset: ExportDataset;
  file: ImportFile;
  source: ImportSource;
}

/**
 * Stages the file's lines and compares the file with the manifest. Returns why the first invalid row would not survive a
 * round trip; `null` if all rows would.
 */
async function stageLines(tx: Sql, { dataset, file, source }: StagedFile): Promise<string | null> {
  const { entries, onRow } = source;
  const entry = entries.get(file.entryName);
  if (!entry) throw new ZipFileError(`entry "${file.entryName}" is missing`);
  const meter = { lines: 0, bytes: 0, sha256: "" };
  const check = rowCheck(dataset.columns);
  let checked = 0;
  let fault: string | null = null;
  for await (const lines of readLines(entry.read(), { meter, maxLineBytes: MAX_LINE_BYTES })) {
    for (const line of lines) {
      onRow();
      checked += 1;
      const reason: string | null = fault === null ? check(line) : null;
      if (reason === NO_OBJECT) fault = `line ${checked} is not a JSON object`;
      else if (reason !== null) fault = `line ${checked}: ${reason}`;
    }
    if (fault === null) await insertImportLines(tx, lines);
  }
  const requireSame = (what: string, promised: string | number | null, found: string | number): void => {
    if (promised === null || promised === found) return;
    throw new ZipFileError(
      `entry "${file.entryName}" does not match manifest.json: ${what} ${found} instead of ${promised}`,
    );
  };
  requireSame("rows", file.rows, meter.lines);
  requireSame("bytes", file.bytes, meter.bytes);
  requireSame("sha256", file.sha256, meter.sha256);
  return fault;
}
