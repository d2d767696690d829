/** `manifest.json` of a project bundle: what is in the archive, and how to tell that it is all there. */
import type { ContentDigest } from "./content_digest.ts";
import type { ExportDatasetName } from "./export_datasets.ts";
import type { ExportVisibility } from "./export_selection.ts";
import type { ExportFormat } from "./vocabulary.ts";

/** Version of the manifest's own shape (specification, Project bundle ZIP). */
const MANIFEST_SCHEMA_VERSION = 1;
/** Rows are as of the watermark by insertion; later changes of a row are read live. */
const COHERENCE = "insert-level";

/** One dataset's file, without its directory. Bytes and SHA-256 are of the uncompressed entry. */
export interface ManifestFile extends ContentDigest {
  name: string;
  rows: number;
}

export interface BundleContents {
  asOf: string;
  format: ExportFormat;
  project: { id: string; name: string };
  organization: { id: string; slug: string };
  visibility: ExportVisibility;
  files: Partial<Record<ExportDatasetName, ManifestFile>>;
}

/** Name of a dataset's entry in an archive. */
export function entryName(dataset: ExportDatasetName, format: ExportFormat): string {
  return `${dataset}.${format}`;
}

/** The manifest's text. Key order is fixed, so that the same bundle gives the same bytes. */
export function bundleManifest(contents: BundleContents): Uint8Array {
  const { asOf, format, project, organization, visibility, files } = contents;
  const rowCounts = Object.fromEntries(Object.entries(files).map(([dataset, file]) => [dataset, file.rows]));
  const manifest = {
    schemaVersion: MANIFEST_SCHEMA_VERSION,
    asOf,
    coherence: COHERENCE,
    format,
    project,
    organization,
    visibility,
    rowCounts,
    files,
  };
  return new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
}
