/** The schema of `manifest.json` for the OpenAPI document, so that generated clients have a type for it. */
import { type TObject, Type } from "@sinclair/typebox";
import { EXPORT_DATASET_NAMES } from "../../shared/exports/datasets.ts";
import { each, Instant, Natural, Nullable, oneOf, Text, Uuid } from "../../shared/schemas.ts";
import { EXPORT_FORMATS } from "../../shared/vocabulary.ts";

export const Visibility = Type.Object(
  each(["includeDeleted", "includeArchived", "includeSuperseded", "includeResolved"], Type.Boolean()),
  { title: "ExportVisibility" },
);

const File = Type.Object(
  {
    bytes: Type.Integer({ minimum: 0, description: "Size before compression" }),
    sha256: Type.String({ description: "SHA-256 of the uncompressed file, in hex" }),
    name: Text,
    rows: Natural,
  },
  { title: "ManifestFile" },
);

const PROJECT_FILES = {
  rowCounts: Type.Object(each(EXPORT_DATASET_NAMES, Natural)),
  files: Type.Object(each(EXPORT_DATASET_NAMES, File)),
  /** The file `deleted.ndjson` of an increment. */
  deleted: Type.Optional(File),
};
const Project = Type.Object({ id: Uuid(), name: Text });
const Organization = Type.Object({ id: Uuid(), slug: Text, name: Text });
const HEAD = {
  schemaVersion: Type.Unsafe<1>({ type: "integer", const: 1 }),
  asOf: Instant({ description: "The cutoff: rows created later are excluded" }),
  since: Nullable(Instant(), {
    description: "Set for an increment: only rows that changed after this time",
  }),
  nextSince: Instant({ description: "Pass it as `since` for the next increment" }),
  coherence: Type.Literal("insert-level"),
  format: oneOf(EXPORT_FORMATS),
  visibility: Visibility,
};

const Manifest = Type.Object(
  { ...HEAD, kind: Type.Literal("project"), project: Project, organization: Organization, ...PROJECT_FILES },
  { title: "Manifest" },
);

const OrganizationManifest = Type.Object(
  {
    ...HEAD,
    kind: Type.Literal("organization"),
    organization: Organization,
    projects: Type.Array(Type.Object({ directory: Text, project: Project, ...PROJECT_FILES })),
    totals: Type.Object({ projects: Natural, rows: Natural, bytes: Natural }),
  },
  { title: "OrganizationManifest" },
);

/** Returns the schema of an archive's bytes. Its `$defs` have the schema of the manifest in the archive. */
function archiveOf(manifest: TObject) {
  return {
    "application/zip": { type: "string", format: "binary", $defs: { "manifest.json": manifest } },
  };
}

export const BUNDLE_ARCHIVE = archiveOf(Manifest);
export const ORGANIZATION_ARCHIVE = archiveOf(OrganizationManifest);
