/** Parses the manifest of a bundle or an organization export and compares it with the archive's entries. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EXPORT_DATASET_NAMES, type ExportDatasetName } from "../../../shared/exports/datasets.ts";
import { isRecord } from "../../../shared/plain_values.ts";
import { Natural } from "../../../shared/schemas.ts";
import { isUuid } from "../../../shared/uuid.ts";
import { nameProblem } from "../../accounts/profile_fields.ts";

/** The only supported `schemaVersion` of a manifest. */
const SCHEMA_VERSION = 1;

const RowCounts = Type.Record(Type.String(), Natural);
const File = Type.Object({
  name: Type.String({ pattern: "^[a-z-]+\\.[a-z]+$" }),
  rows: Type.Optional(Natural),
  bytes: Type.Optional(Natural),
  sha256: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
});
/** A project in a manifest. `projectProblem` validates its id and name. */
const Contents = Type.Object({
  project: Type.Object({ id: Type.String(), name: Type.String() }),
  rowCounts: RowCounts,
  files: Type.Optional(Type.Record(Type.String(), File)),
});
/** Top-level fields of both kinds of manifest. */
const HEAD = {
  schemaVersion: Type.Integer(),
  format: Type.Optional(Type.String()),
  /** Start of an incremental export; null or missing in a full export. */
  since: Type.Optional(Type.Union([Type.String(), Type.Null()])),
};
const BundleManifest = Type.Composite([Contents, Type.Object(HEAD)]);
const OrganizationManifest = Type.Object({
  ...HEAD,
  projects: Type.Array(
    Type.Composite([
      Contents,
      // One path segment. It is only compared with entry names, but `..` and `/` are rejected anyway.
      Type.Object({ directory: Type.String({ pattern: "^(?!\\.{1,2}$)[^/\\\\\\u0000-\\u001f]+$" }) }),
    ]),
  ),
});

export interface ImportFile {
  entryName: string;
  rows: number;
  /** Uncompressed size according to the manifest; `null` if the manifest has no size. */
  bytes: number | null;
  sha256: string | null;
}

export interface ImportProject {
  id: string;
  name: string;
  files: Readonly<Record<ExportDatasetName, ImportFile>>;
}

type ImportPlan = { ok: true; projects: ImportProject[] } | { ok: false; reason: string };

/** Parses a manifest. `ok` is false if the manifest is invalid or does not match `entryNames`. */
export function planImport(manifestText: string, entryNames: ReadonlySet<string>): ImportPlan {
  const manifest = parseJson(manifestText);
  if (manifest === undefined) return invalid("manifest.json is not JSON");
  const isOrganization = isRecord(manifest) && "projects" in manifest;
  const schema = isOrganization ? OrganizationManifest : BundleManifest;
  const [problem] = [...Value.Errors(schema, manifest)];
  if (problem) return invalid(`manifest.json is invalid at ${problem.path || "/"}: ${problem.message}`);
  const checked = manifest as Static<typeof BundleManifest> | Static<typeof OrganizationManifest>;
  if (checked.schemaVersion !== SCHEMA_VERSION) {
    return invalid(
      `schemaVersion ${checked.schemaVersion} of manifest.json is not supported: expected ${SCHEMA_VERSION}`,
    );
  }
  if (checked.since) {
    return invalid("it is an increment, which has only what changed: export it without since");
  }
  const isCsv = checked.format === "csv" || [...entryNames].some((name) => /(^|\/)issues\.csv$/.test(name));
  if (isCsv) return invalid("the bundle is CSV, which does not preserve all values: export it as NDJSON");
  const isParquet =
    checked.format === "parquet" || [...entryNames].some((name) => /(^|\/)issues\.parquet$/.test(name));
  if (isParquet) return invalid("the bundle is Parquet, which cannot be imported: export it as NDJSON");
  return planProjects(
    "projects" in checked ? checked.projects : [{ ...checked, directory: null }],
    entryNames,
  );
}

/** A project in the manifest with the directory of its entries. */
type Part = Static<typeof Contents> & { directory: string | null };

function planProjects(parts: readonly Part[], entryNames: ReadonlySet<string>): ImportPlan {
  const projects: ImportProject[] = [];
  const planned = new Set<string>();
  for (const part of parts) {
    const { id, name } = part.project;
    const problem = projectProblem(part.project);
    if (problem) return invalid(problem);
    const files: Partial<Record<ExportDatasetName, ImportFile>> = {};
    for (const dataset of EXPORT_DATASET_NAMES) {
      const file = planFile(part, dataset);
      if (!file) return invalid(`manifest.json has no row count for ${dataset} of "${name}"`);
      if (!entryNames.has(file.entryName)) return invalid(`entry "${file.entryName}" is missing`);
      if (planned.has(file.entryName)) return invalid(`manifest.json names entry "${file.entryName}" twice`);
      planned.add(file.entryName);
      files[dataset] = file;
    }
    // The loop above has set a file for every dataset.
    projects.push({ id: id.toLowerCase(), name, files: files as ImportProject["files"] });
  }
  const stray = [...entryNames].find((name) => name.endsWith(".ndjson") && !planned.has(name));
  if (stray !== undefined) return invalid(`entry "${stray}" is not in manifest.json`);
  return { ok: true, projects };
}

function projectProblem({ id, name }: { id: string; name: string }): string | null {
  if (!isUuid(id)) return `project id "${id}" is not a UUID`;
  const problem = nameProblem(name);
  return problem ? `the name of project ${id} ${problem}` : null;
}

function planFile({ directory, rowCounts, files }: Part, dataset: ExportDatasetName): ImportFile | null {
  const file = files?.[dataset];
  const rows = file?.rows ?? rowCounts[dataset];
  if (rows === undefined) return null;
  const name = file?.name ?? `${dataset}.ndjson`;
  return {
    entryName: directory === null ? name : `${directory}/${name}`,
    rows,
    bytes: file?.bytes ?? null,
    sha256: file?.sha256 ?? null,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalid(reason: string): ImportPlan {
  return { ok: false, reason };
}
