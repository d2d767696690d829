/** Warnings: non-fatal problems of a new version, reported to its author. */
import { shorten } from "../../shared/characters.ts";
import { TOOLS } from "../../shared/definitions/language/agent_keys.ts";
import { type DefinitionName, nameKey } from "../../shared/definitions/name.ts";
import { writtenName } from "../../shared/definitions/references.ts";
import { isRange, RANGE_FORMS } from "../../shared/definitions/version_range.ts";
import { OTHER_ORG_ADVICE, TEXTS } from "../../shared/error_texts.ts";
import { parseModelName } from "../../shared/models/model_name.ts";
import { mayWriteDefinitions } from "../../shared/policy.ts";
import { createSuggester, type Suggest, suggestNames } from "../../shared/suggestions.ts";
import { listMembershipsByName } from "../../sql/accounts/organization_members.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { withStatementLimit } from "../../sql/connection/snapshot.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import {
  listDefinitionReferences,
  listNewForeignReferences,
  type VersionReferenceRow,
} from "../../sql/definitions/references.ts";
import { ANONYMOUS, type DefinitionViewer, isMemberOrg } from "../../sql/definitions/visibility.ts";
import type { PlacedName, ReadDocument } from "../documents/read_document.ts";
import { withinTimeout } from "../http/error_handler.ts";
import { yieldEventLoop } from "../http/yield_event_loop.ts";
import type { Catalog } from "../models/catalog.ts";
import { namesOf } from "../models/similar_names.ts";
import { limitTime, type OnStep } from "./dependencies/resolve_in_turn.ts";
import { type ResolvedReference, resolveReferences } from "./dependencies/resolve_references.ts";
import type { DefinitionDeps, WrittenDocument } from "./document.ts";
import { groupBySize } from "./group_by_size.ts";
import type { Writer } from "./new_draft.ts";
import type { Warning } from "./schemas.ts";

/** A version to check. Its references must already be stored. */
export interface CheckedVersion {
  row: Pick<DefinitionRow, "id" | "visibility">;
  document: WrittenDocument;
}

/** The warnings for the author of a version, and the targets of its references. */
export interface VersionCheck {
  warnings: Warning[];
  /** The references in document order, resolved for the author. */
  references: ResolvedReference<VersionReferenceRow>[];
}

/** Time limit for resolving all references of a request, and for each statement. The versions' rows are locked meanwhile. */
const MAX_RESOLUTION_MS = 5_000;

const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.references(MAX_RESOLUTION_MS / 1000);

/** Maximum number of reference rows in memory at once. */
const MAX_REFERENCES_AT_ONCE = 1_000;

/**
 * Returns the warnings for the author of versions. Throws SERVICE_UNAVAILABLE if resolving the references takes more than five
 * seconds. Call inside the transaction that writes the versions.
 */
export async function checkVersions(
  tx: Sql,
  { viewer }: Pick<Writer, "viewer">,
  versions: readonly CheckedVersion[],
): Promise<VersionCheck[]> {
  const checks: VersionCheck[] = [];
  const onStep = limitTime(MAX_RESOLUTION_MS, TOO_LONG);
  const sizeOf = ({ document }: CheckedVersion) => document.references.length;
  for (const group of groupBySize(versions, { sizeOf, max: MAX_REFERENCES_AT_ONCE })) {
    const naming = group.filter(({ document }) => document.references.length > 0);
    const find = () => findReferences(tx, { versions: naming, viewer, onStep });
    const found = naming.length > 0 ? await limitResolution(tx, find) : new Map<string, VersionCheck>();
    for (const { row, document } of group) {
      const { references = [], warnings = [] } = found.get(row.id) ?? {};
      checks.push({
        references,
        warnings: [
          ...translationWarnings(document),
          ...document.keyWarnings,
          ...warnings,
          ...scanWarnings(document),
        ],
      });
    }
  }
  return checks;
}

/** Runs `resolve`. Throws SERVICE_UNAVAILABLE if a statement takes longer than five seconds. Call inside a write transaction. */
export function limitResolution<Result>(tx: Sql, resolve: () => Promise<Result>): Promise<Result> {
  return withinTimeout(TOO_LONG, () => withStatementLimit(tx, MAX_RESOLUTION_MS, resolve));
}

/** Resolves the references of versions. Warns about unresolved, foreign and non-public references. */
async function findReferences(
  tx: Sql,
  options: { versions: readonly CheckedVersion[]; viewer: DefinitionViewer; onStep: OnStep },
): Promise<Map<string, VersionCheck>> {
  const { versions, viewer, onStep } = options;
  const definitionIds = versions.map(({ row }) => row.id);
  const rows = await listDefinitionReferences(tx, { definitionIds, viewer });
  const resolved = await resolveReferences(tx, { references: rows, viewer, onStep });
  const open = new Set(versions.filter(({ row }) => row.visibility === "public").map(({ row }) => row.id));
  const shown = resolved.flatMap(({ reference, target }) =>
    target && open.has(reference.definitionId) ? [reference] : [],
  );
  const readable = await resolveReferences(tx, { references: shown, viewer: ANONYMOUS, onStep });
  const unreadable = new Set(readable.flatMap(({ reference, target }) => (target ? [] : [reference])));
  const strangers = await findStrangers(tx, resolved, viewer);
  const byVersion = Map.groupBy(resolved, ({ reference }) => reference.definitionId);
  return new Map(
    versions.map(({ row, document }) => {
      const references = byVersion.get(row.id) ?? [];
      const unresolved = references.filter(({ target }) => !target);
      const foreign = references.filter(({ reference }) => strangers.has(reference));
      const hidden = references.filter(({ reference }) => unreadable.has(reference));
      const warnings = distinct([
        ...unresolved.map(placed(document, unresolvedReference)),
        ...foreign.map(placed(document, foreignReference)),
        ...hidden.map(placed(document, referenceNotPublic)),
      ]);
      return [row.id, { references, warnings }];
    }),
  );
}

/** Wraps `toWarning` to add the position of the reference in the document. */
function placed(
  { references }: WrittenDocument,
  toWarning: (resolved: ResolvedReference<VersionReferenceRow>) => Warning,
): typeof toWarning {
  return (resolved) => {
    const place = references[resolved.reference.position];
    const warning = toWarning(resolved);
    return place ? { ...warning, path: place.path, line: place.line, column: place.column } : warning;
  };
}

/** Removes duplicate warnings, because a document may reference a definition many times. */
function distinct(warnings: readonly Warning[]): Warning[] {
  const first = new Map<string, Warning>();
  for (const warning of warnings) {
    const key = `${warning.code} ${warning.message}`;
    if (!first.has(key)) first.set(key, warning);
  }
  return [...first.values()];
}

/** Returns the bare references that newly bind to organizations to which the author does not belong. */
async function findStrangers(
  tx: Sql,
  resolved: readonly ResolvedReference<VersionReferenceRow>[],
  viewer: DefinitionViewer,
): Promise<Set<VersionReferenceRow>> {
  const bare = resolved
    .filter(({ reference, target }) => target !== null && reference.orgSlug === null)
    .map(({ reference }) => reference)
    .filter(({ orgId, targetOrgId }) => targetOrgId !== orgId);
  const foreign = await listNewForeignReferences(tx, { references: bare, viewer });
  const keys = new Set(foreign.map(({ definitionId, position }) => `${definitionId} ${position}`));
  return new Set(bare.filter(({ definitionId, position }) => keys.has(`${definitionId} ${position}`)));
}

function translationWarnings({ failures, positions }: WrittenDocument): Warning[] {
  return failures.map(({ reason, path, message }) => {
    return { code: "TRANSLATION_FAILED", message, details: { reason, path }, path, ...positions[path] };
  });
}

function unresolvedReference({ reference }: ResolvedReference<VersionReferenceRow>): Warning {
  const { type, range } = reference;
  const name = writtenName(reference);
  return {
    code: "UNRESOLVED_REFERENCE",
    message: isRange(range)
      ? `No published ${type} matches the reference "${name}@${range}".`
      : `"${range}" in the reference "${name}@${range}" is no range of versions. Write ${RANGE_FORMS}.`,
    details: { type, name, range },
  };
}

function foreignReference({ reference, target }: ResolvedReference<VersionReferenceRow>): Warning {
  const { type, name, range } = reference;
  const organization = target?.organization ?? null;
  return {
    code: "FOREIGN_REFERENCE",
    message:
      `The reference "${name}@${range}" resolves to ${type} "@${organization}/${name}" of an organization that you do not belong to. ` +
      `If you mean it, write @${organization}/${name}@${range}.`,
    details: { type, name, range, organization },
  };
}

function referenceNotPublic({ reference }: ResolvedReference<VersionReferenceRow>): Warning {
  const { type } = reference;
  const name = writtenName(reference);
  return {
    code: "REFERENCE_NOT_PUBLIC",
    message: `This version is public, but ${type} "${name}" is not: other organizations cannot resolve the reference. Publish a public version of it.`,
    details: { type, name },
  };
}

/** Returns the scan's signals as warnings. A failed scan is a warning too, because an unscanned document would look safe. */
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

/** Model names of the definition language itself. Coding agents map them to models. */
const LANGUAGE_WORDS = ["haiku", "sonnet", "opus", "inherit"];
const LANGUAGE_MODEL = /^(?:(?:haiku|sonnet|opus)(?:-\d+(?:\.\d+)?)?|inherit)$/;

/**
 * Returns UNKNOWN_MODEL and UNKNOWN_TOOL warnings. Models are not checked while the catalog is empty. Call this outside
 * transactions, because comparing each name takes milliseconds.
 */
export async function listUnknownNames(
  { catalog }: Pick<DefinitionDeps, "catalog">,
  { models, unknownTools }: Pick<ReadDocument, "models" | "unknownTools">,
): Promise<Warning[]> {
  const warnings: Warning[] = [];
  const named = models.filter(({ text }) => !LANGUAGE_MODEL.test(text));
  if (catalog !== null && named.length > 0) {
    const current = await catalog.current();
    for (const model of named) {
      if (current.entries.length === 0 || isKnownModel(current, model.text)) continue;
      warnings.push(unknownModel(model, suggestModel(current, model.text)));
      await yieldEventLoop();
    }
  }
  return [...warnings, ...unknownTools.map(unknownTool)];
}

/** Returns true for an alias, `provider/modelId`, or a model id of any provider. Removed models count: they still resolve. */
function isKnownModel(catalog: Catalog, text: string): boolean {
  if (catalog.aliases.get(text)?.entry || catalog.find(parseModelName(text))) return true;
  return namesOf(catalog).modelIds.has(text);
}

const suggesters = new WeakMap<Catalog, Suggest>();

/** Suggests a known name. Keeps the index of each catalog, because indexing thousands of names is much slower than a lookup. */
function suggestModel(catalog: Catalog, text: string): string | null {
  const suggest = suggesters.get(catalog) ?? createSuggester([...LANGUAGE_WORDS, ...namesOf(catalog).names]);
  suggesters.set(catalog, suggest);
  return suggest(text)[0] ?? null;
}

function unknownModel({ text, ...place }: PlacedName, suggestion: string | null): Warning {
  return {
    code: "UNKNOWN_MODEL",
    message: `The model catalog has no "${shorten(text, MAX_SHOWN)}".${adviceOf(suggestion)}`,
    details: { model: shorten(text, MAX_SHOWN), suggestion },
    ...place,
  };
}

function unknownTool({ text, ...place }: PlacedName): Warning {
  const suggestion = suggestNames(text, TOOLS)[0] ?? null;
  const advice = suggestion === null ? ` The tools are ${TOOLS.join(", ")}.` : adviceOf(suggestion);
  return {
    code: "UNKNOWN_TOOL",
    message: `"${shorten(text, MAX_SHOWN)}" is not a tool of definitions.${advice}`,
    details: { tool: shorten(text, MAX_SHOWN), suggestion },
    ...place,
  };
}

function adviceOf(suggestion: string | null): string {
  return suggestion === null ? "" : ` Did you mean "${suggestion}"?`;
}

const MAX_SHOWN = 200;

/**
 * Returns SAME_NAME_ELSEWHERE warnings by `nameKey`, for names that the writer may also write in another organization. Requests
 * that name their organization get no warning.
 */
export async function listSameNames(
  sql: Sql,
  { caller, viewer, org, isOrgNamed }: Writer,
  definitions: readonly DefinitionName[],
): Promise<Map<string, Warning>> {
  if (isOrgNamed || definitions.length === 0) return new Map();
  const memberships = await listMembershipsByName(sql, { userId: caller.userId, names: definitions });
  const others = memberships.filter(
    (other) => other.orgId !== org.orgId && mayWriteDefinitions(other.role).ok && isMemberOrg(viewer, other),
  );
  const byName = Map.groupBy(others, ({ type, definitionName: name }) => nameKey({ type, name }));
  return new Map(
    [...byName].map(([key, rows]) => {
      const [{ type, definitionName: name } = { type: "", definitionName: "" }] = rows;
      const organizations = rows.map(({ slug }) => slug);
      const message =
        `You can also write ${type} "${name}" in ${organizations.join(", ")}. This request names no organization, so it means ` +
        `"${org.slug}". ${OTHER_ORG_ADVICE}`;
      return [key, { code: "SAME_NAME_ELSEWHERE", message, details: { type, name, organizations } }];
    }),
  );
}
