/** Non-fatal problems of a new version, reported to its author when it is published or forked. */
import { type DefinitionReference, writtenName } from "../../../shared/definitions/ref.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { listDefinitionReferences } from "../../../sql/definitions/references.ts";
import type { DefinitionViewer } from "../../../sql/definitions/visibility.ts";
import type { WrittenDocument } from "../document.ts";
import { viewerOf } from "../reading.ts";
import { resolveReferences } from "../resolved_references.ts";

/** A problem that does not block the write. */
export interface Warning {
  code:
    | "TRANSLATION_FAILED"
    | "UNRESOLVED_REFERENCE"
    | "REFERENCE_NOT_PUBLIC"
    | "SAFETY_SIGNAL"
    | "SAFETY_SCAN_FAILED"
    | "UNKNOWN_MODEL"
    | "UNKNOWN_TOOL";
  message: string;
  details: Readonly<Record<string, unknown>>;
  /** The place in the document, where it is known. */
  path?: string;
  line?: number;
  column?: number;
}

export interface WarningsQuery {
  /** The version, whose references are stored. */
  definitionId: string;
  document: WrittenDocument;
  /** The author. */
  viewer: DefinitionViewer;
  /** Whether everyone can read the version, and not only members of its organization. */
  isPublic: boolean;
}

/** Returns the warnings of a version for its author. Call inside the transaction that writes the version. */
export async function listWarnings(tx: Sql, query: WarningsQuery): Promise<Warning[]> {
  const { document } = query;
  return [
    ...translationWarnings(document),
    ...(await referenceWarnings(tx, query)),
    ...scanWarnings(document),
  ];
}

function translationWarnings({ failure, positions }: WrittenDocument): Warning[] {
  if (failure === null) return [];
  const { reason, path, message } = failure;
  return [{ code: "TRANSLATION_FAILED", message, details: { reason, path }, path, ...positions[path] }];
}

/** References that the author cannot resolve, and those that readers of a public version cannot. */
async function referenceWarnings(
  tx: Sql,
  { definitionId, document, viewer, isPublic }: WarningsQuery,
): Promise<Warning[]> {
  if (document.references.length === 0) return [];
  const references = await listDefinitionReferences(tx, definitionId);
  const resolved = await resolveReferences(tx, { references, viewer });
  const found = resolved.flatMap(({ reference, target }) => (target ? [reference] : []));
  const readable = isPublic ? await resolveReferences(tx, { references: found, viewer: viewerOf(null) }) : [];
  return [
    ...resolved.flatMap(({ reference, target }) => (target ? [] : [unresolvedReference(reference)])),
    ...readable.flatMap(({ reference, target }) => (target ? [] : [referenceNotPublic(reference)])),
  ];
}

function unresolvedReference(reference: DefinitionReference): Warning {
  const { type, range } = reference;
  const name = writtenName(reference);
  return {
    code: "UNRESOLVED_REFERENCE",
    message: `No published ${type} matches the reference "${name}@${range}".`,
    details: { type, name, range },
  };
}

function referenceNotPublic(reference: DefinitionReference): Warning {
  const { type } = reference;
  const name = writtenName(reference);
  return {
    code: "REFERENCE_NOT_PUBLIC",
    message: `This version is public, but ${type} "${name}" is not: other organizations cannot resolve the reference. Publish a public version of it.`,
    details: { type, name },
  };
}

/** A scan that fails is a warning of its own: without it, an unscanned document would look safe. */
function scanWarnings({ scan, positions }: WrittenDocument): Warning[] {
  const message =
    "The safety scan of the document failed, so it is unknown whether it shows signs of misuse.";
  if (scan === null) return [{ code: "SAFETY_SCAN_FAILED", message, details: {} }];
  return scan.signals.map(({ id, severity, title, location }) => ({
    code: "SAFETY_SIGNAL",
    message: `${title} (${location})`,
    details: { id, severity, location },
    path: location,
    ...positions[location],
  }));
}
