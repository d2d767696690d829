/** Imports one project of a bundle, completely or not at all. */

import { isUtf8 } from "node:buffer";
import {
  EXPORT_DATASET_NAMES,
  EXPORT_DATASETS,
  type ExportDataset,
  type ExportDatasetName,
} from "../../../shared/exports/datasets.ts";
import { insertAuditEntry } from "../../../sql/accounts/audit_log.ts";
import type { OrgRow } from "../../../sql/accounts/orgs.ts";
import { findProjectById, type ProjectRow } from "../../../sql/accounts/projects.ts";
import { type Sql, type StatementError, statementErrorOf } from "../../../sql/connection/pool.ts";
import { lockTransaction } from "../../../sql/locks.ts";
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
import type { ImportFile, ImportProject } from "./import_manifest.ts";
import { NO_OBJECT, rowCheck } from "./import_row.ts";
import { type ZipFileEntry, ZipFileError } from "./zip_file.ts";

/** Size limit of a row's JSON, far above a report of 500,000 characters. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Parent datasets come first, because rows of the other datasets refer to parent rows. */
const DATASET_ORDER: readonly ExportDatasetName[] = [
  "runs",
  "issues",
  ...EXPORT_DATASET_NAMES.filter((name) => name !== "runs" && name !== "issues"),
];

interface ImportSource {
  org: OrgRow;
  /** Username of the owner of new projects; by default, the member with the highest role. */
  owner: string | undefined;
  entries: ReadonlyMap<string, ZipFileEntry>;
  /** Milliseconds added to every timestamp in the rows; 0 by default. */
  shiftMs?: number;
  /** The project to import into; by default, the bundle's project. */
  target?: Pick<ImportProject, "id" | "name">;
  /** Called for each row that is read. */
  onRow: () => void;
}

export interface ImportedProject extends Pick<ProjectRow, "id" | "name" | "slug"> {
  /** Number of rows in the bundle by dataset, including rows that already existed. */
  rowCounts: Record<string, number>;
  insertedRows: number;
}

/** Imports a project. Call inside a separate transaction. Throws AdminError for a problem that the operator can fix. */
export async function importProject(
  tx: Sql,
  project: ImportProject,
  source: ImportSource,
): Promise<ImportedProject> {
  const wanted = source.target ?? project;
  // Wait for concurrent imports of the project, because this import must find the rows that they insert.
  await lockTransaction(tx, { name: "project_import", id: wanted.id });
  const target = await findOrCreateProject(tx, wanted, source);
  const { id, name, slug } = target;
  let insertedRows = 0;
  await createImportStage(tx);
  for (const dataset of DATASET_ORDER) {
    insertedRows += await importDataset(tx, { name: dataset, project, target, source });
    await clearImportStage(tx);
  }
  const excess = await advanceStatusSequence(tx, id);
  if (excess !== null) {
    throw new AdminError(
      `Cannot import project "${name}": status-history: seq is ${excess}, and 2^62 is the highest that can be imported`,
    );
  }
  await insertAuditEntry(tx, {
    actorType: "operator",
    action: "project.import",
    subject: { type: "project", id },
    orgId: source.org.id,
    details: { name, insertedRows },
  });
  // In the order of EXPORT_DATASET_NAMES, not DATASET_ORDER.
  const rowCounts = Object.entries(project.files).map(([dataset, { rows }]) => [dataset, rows]);
  return { id, name, slug, rowCounts: Object.fromEntries(rowCounts), insertedRows };
}

/** Returns the project with this id, or creates it. An existing project keeps its name. */
async function findOrCreateProject(
  tx: Sql,
  { id, name }: Pick<ImportProject, "id" | "name">,
  { org, owner }: ImportSource,
): Promise<ProjectRow> {
  const found = await findProjectById(tx, id);
  if (!found) {
    const ownerId = await findProjectOwner(tx, { org, owner });
    return addProject(tx, { id, org, name, ownerId, actor: OPERATOR });
  }
  if (found.orgId !== org.id) {
    throw new AdminError(`Cannot import project "${name}": its id ${id} belongs to another organization`);
  }
  if (found.deletedAt)
    throw new AdminError(`Cannot import project "${name}": it was deleted ${found.deletedAt}`);
  return found;
}

interface DatasetImport {
  name: ExportDatasetName;
  /** The project in the bundle. */
  project: ImportProject;
  target: ProjectRow;
  source: ImportSource;
}

/** Stages the dataset's lines, inserts the rows whose ids are new, and returns the number of inserted rows. */
async function importDataset(tx: Sql, options: DatasetImport): Promise<number> {
  const { name, project, target, source } = options;
  const file = project.files[name];
  const dataset = EXPORT_DATASETS[name];
  const rows = { dataset, fromProjectId: project.id, projectId: target.id, shiftMs: source.shiftMs ?? 0 };
  const fail = (reason: string): never => {
    throw new AdminError(`Cannot import project "${target.name}": ${reason}`);
  };
  try {
    const fault = await stageLines(tx, file, { dataset, source });
    if (fault !== null) fail(`${name}: ${fault}`);
    const inserted = await insertStaged(tx, rows);
    if (inserted < file.rows) {
      const id = await findDifferentRow(tx, rows);
      if (id !== null) fail(`${name}: row ${id} already exists with different content`);
    }
    return inserted;
  } catch (error) {
    const rejected = statementErrorOf(error);
    if (rejected) return fail(`${name}: ${explainRejection(rejected, dataset)}`);
    if (error instanceof ZipFileError) return fail(error.message);
    throw error;
  }
}

/**
 * Stages the file's lines and compares the file with the manifest. Returns the problem with the first invalid row; `null` if
 * all rows are valid.
 */
async function stageLines(
  tx: Sql,
  file: ImportFile,
  { dataset, source }: { dataset: ExportDataset; source: ImportSource },
): Promise<string | null> {
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

/** Matches `Failing row contains (<project>, <id>, …)`. Both are the first columns of every tracker table. */
const FAILING_ROW = /^Failing row contains \((?:[0-9a-f-]{36}|null), ([0-9a-f-]{36})/;
/** Matches `Key (project_id, issue_id)=(<project>, <value>) …`. */
const KEY = /^Key \(project_id, (\w+)\)=\([^,]*, (.*)\)/;

/** Describes a rejected row, in words that follow "Cannot import …:" and the dataset's name. */
function explainRejection(error: StatementError, dataset: ExportDataset): string {
  const [, keyColumn = "", key = ""] = KEY.exec(error.detail) ?? [];
  const row = FAILING_ROW.exec(error.detail)?.[1] ?? "without an id";
  switch (error.sqlState) {
    case "23503": {
      const parent = keyColumn === "run_id" ? "run" : "issue";
      return `a row belongs to ${parent} ${key}, which is neither in the bundle nor in the project. Was the ${parent} excluded from the export?`;
    }
    case "23505":
      return `another row of the project already has ${jsonName(keyColumn, dataset)} ${key}`;
    case "23502": {
      const column = error.column || (quotedNames(error)[0] ?? "");
      if (column === "project_id") return `row ${row} belongs to another project`;
      return `row ${row} has no ${jsonName(column, dataset)}`;
    }
    case "23514": {
      // A partition's check constraints are named after the partitioned table. The names of a shard's constraints end with the
      // shard's number.
      const constraint = (error.constraint || (quotedNames(error).at(-1) ?? "")).replace(/_\d+$/, "");
      const column = constraint.slice(dataset.table.length + 1).replace(/_check$/, "");
      const isTime = dataset.columns.some((each) => each.column === column && each.type === "timestamp");
      const name = jsonName(column, dataset);
      return isTime
        ? `row ${row} has a time outside the years 1 to 9999 as ${name}`
        : `row ${row} has an invalid ${name}`;
    }
    case "22003":
      return "a row has a number that is too large or too close to zero";
    default:
      // Citus rejects a null project id before it checks constraints. A row of another project has a null project id.
      if (error.message.startsWith("the partition column of table"))
        return "a row belongs to another project";
      return error.message;
  }
}

/** Returns the quoted names in an error message. Of an error on a node, Citus forwards only the message. */
function quotedNames({ message }: StatementError): string[] {
  return [...message.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

function jsonName(column: string, dataset: ExportDataset): string {
  return dataset.columns.find((candidate) => candidate.column === column)?.name ?? column;
}

const LINE_FEED = 10;

interface LineMeter {
  /** Number of lines read so far. At the end, text after the last line feed also counts as a line. */
  lines: number;
  bytes: number;
  /** SHA-256 of the content in hexadecimal; empty until all content is read. */
  sha256: string;
}

/**
 * Yields the lines completed by each chunk, without line feeds, and updates `meter`. Yields an empty line for invalid UTF-8,
 * because an empty line is not valid JSON either. Throws RangeError for a line longer than `maxLineBytes`.
 */
export async function* readLines(
  content: AsyncGenerator<Uint8Array, void, void>,
  { meter, maxLineBytes }: { meter: LineMeter; maxLineBytes: number },
): AsyncGenerator<string[], void, void> {
  const hasher = new Bun.CryptoHasher("sha256");
  let parts: Uint8Array[] = [];
  let lineBytes = 0;
  const extendLine = (part: Uint8Array): void => {
    parts.push(part);
    lineBytes += part.length;
    if (lineBytes <= maxLineBytes) return;
    throw new RangeError(`Cannot read line ${meter.lines + 1}: it is longer than ${maxLineBytes} bytes`);
  };
  const endLine = (): string => {
    const line = Buffer.concat(parts, lineBytes);
    parts = [];
    lineBytes = 0;
    meter.lines += 1;
    return isUtf8(line) ? line.toString("utf8") : "";
  };
  for await (const chunk of content) {
    hasher.update(chunk);
    meter.bytes += chunk.length;
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      extendLine(chunk.subarray(start, end));
      lines.push(endLine());
      start = end + 1;
    }
    extendLine(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (lineBytes > 0) yield [endLine()];
  meter.sha256 = hasher.digest("hex");
}
