/** Creates the `manifest.json` of a bundle or an organization export, with the contents and checksums of the archive. */
import type { ContentDigest } from "../artifacts/store.ts";
import { escapeLineEnds, toJsonLine } from "../json_lines.ts";
import type { ExportFormat } from "../vocabulary.ts";
import type { ExportDatasetName, ExportVisibility } from "./datasets.ts";

/** The version of the manifest's format. */
const MANIFEST_SCHEMA_VERSION = 1;
/** The watermark decides which inserted rows are included. Later changes of a row are read live. */
const COHERENCE = "insert-level";

/** The file of a dataset, without its directory. Bytes and SHA-256 refer to the uncompressed entry. */
export interface ManifestFile extends ContentDigest {
  name: string;
  rows: number;
}

const encoder = new TextEncoder();

/** Fields of the manifests of full exports and increments. */
export interface ManifestHead {
  asOf: string;
  /** The start of an increment; null for a full export. */
  since: string | null;
  format: ExportFormat;
  organization: { id: string; slug: string; name: string };
  visibility: ExportVisibility;
}

/** The files of a project that have been written so far. */
export interface ProjectContents {
  files: Partial<Record<ExportDatasetName, ManifestFile>>;
  /** The file with the rows that left the export; null for a full export. */
  deleted: ManifestFile | null;
}

/** The part of a project in an organization export. */
export interface ManifestProject extends ProjectContents {
  directory: string;
  project: { id: string; name: string };
}

export interface BundleContents extends ManifestHead, Omit<ManifestProject, "directory"> {}

/** The name of the entry with the rows that left the export. It is NDJSON, regardless of the format of the other entries. */
export const DELETED_ENTRY = "deleted.ndjson";

export function entryName(dataset: ExportDatasetName, format: ExportFormat): string {
  return `${dataset}.${format}`;
}

/** Returns the text of a bundle's manifest. The order of keys is fixed, so that equal bundles have equal bytes. */
export function bundleManifest(contents: BundleContents): string {
  const { project } = contents;
  const manifest = { ...describeHead("project", contents, { project }), ...describeFiles(contents) };
  return `${escapeLineEnds(JSON.stringify(manifest, null, 2))}\n`;
}

/** Yields the text of an organization export's manifest. Each project is one line, because there may be ten thousand projects. */
export async function* organizationManifest(
  contents: ManifestHead & { projects: readonly ManifestProject[] },
): AsyncGenerator<Uint8Array, void, void> {
  const { projects } = contents;
  const head = describeHead("organization", contents, {});
  yield encoder.encode(`${toJsonLine(head).slice(0, -1)},\n"projects":[`);
  const totals = { projects: projects.length, rows: 0, bytes: 0 };
  for (const [index, contents] of projects.entries()) {
    for (const { rows, bytes } of Object.values(contents.files)) {
      totals.rows += rows;
      totals.bytes += bytes;
    }
    const { directory, project } = contents;
    const part = toJsonLine({ directory, project, ...describeFiles(contents) });
    yield encoder.encode(`${index === 0 ? "" : ","}\n${part}`);
  }
  yield encoder.encode(`\n],\n"totals":${JSON.stringify(totals)}}\n`);
}

function describeHead(kind: string, contents: ManifestHead, subject: object) {
  const { asOf, since, format, organization, visibility } = contents;
  return {
    schemaVersion: MANIFEST_SCHEMA_VERSION,
    kind,
    asOf,
    since,
    nextSince: asOf,
    coherence: COHERENCE,
    format,
    ...subject,
    organization,
    visibility,
  };
}

function describeFiles({ files, deleted }: ProjectContents) {
  const rowCounts = Object.fromEntries(Object.entries(files).map(([dataset, { rows }]) => [dataset, rows]));
  return { rowCounts, files, ...(deleted && { deleted }) };
}
