/** The schema of `manifest.json` for the OpenAPI document, so that generated clients have a type for it. */
import { Type } from "@sinclair/typebox";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import { COUNT, ID, INSTANT, listSchema, named, record, TEXT, wordSchema } from "../../shared/json_schema.ts";
import { EXPORT_FORMATS } from "../../shared/vocabulary.ts";

export const Visibility = Type.Object(
  {
    includeDeleted: Type.Boolean(),
    includeArchived: Type.Boolean(),
    includeSuperseded: Type.Boolean(),
    includeResolved: Type.Boolean(),
  },
  { title: "ExportVisibility" },
);

const FILE = named(
  "ManifestFile",
  record({
    bytes: { ...COUNT, description: "Size before compression" },
    sha256: { ...TEXT, description: "SHA-256 of the uncompressed file, in hex" },
    name: TEXT,
    rows: COUNT,
  }),
);

function byDataset(schema: object) {
  return record(Object.fromEntries(EXPORT_DATASET_NAMES.map((name) => [name, schema])));
}

const PROJECT_FILES = {
  rowCounts: byDataset(COUNT),
  files: byDataset(FILE),
  /** `deleted.ndjson` of an increment. */
  deleted: FILE,
};
const PROJECT = record({ id: ID, name: TEXT });
const ORGANIZATION = record({ id: ID, slug: TEXT, name: TEXT });
const HEAD = {
  schemaVersion: { type: "integer", const: 1 },
  asOf: { ...INSTANT, description: "The cutoff: rows created later are excluded" },
  since: {
    ...INSTANT,
    type: ["string", "null"],
    description: "Set for an increment: only rows that changed after this time",
  },
  nextSince: { ...INSTANT, description: "Pass it as `since` for the next increment" },
  coherence: { type: "string", const: "insert-level" },
  format: wordSchema(EXPORT_FORMATS),
  visibility: Visibility,
};

const MANIFEST = named(
  "Manifest",
  record(
    {
      ...HEAD,
      kind: { type: "string", const: "project" },
      project: PROJECT,
      organization: ORGANIZATION,
      ...PROJECT_FILES,
    },
    ["deleted"],
  ),
);

const ORGANIZATION_MANIFEST = named(
  "OrganizationManifest",
  record({
    ...HEAD,
    kind: { type: "string", const: "organization" },
    organization: ORGANIZATION,
    projects: listSchema(record({ directory: TEXT, project: PROJECT, ...PROJECT_FILES }, ["deleted"])),
    totals: record({ projects: COUNT, rows: COUNT, bytes: COUNT }),
  }),
);

/** The bytes of an archive; the document also holds the schema of the manifest in it. */
function archiveOf(manifest: object) {
  return {
    "application/zip": { type: "string", format: "binary", $defs: { "manifest.json": manifest } },
  };
}

export const BUNDLE_ARCHIVE = archiveOf(MANIFEST);
export const ORGANIZATION_ARCHIVE = archiveOf(ORGANIZATION_MANIFEST);
