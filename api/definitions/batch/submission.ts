/** Documents that a client submits together, and the problems of each. */
import { nameKey } from "../../../shared/definitions/name.ts";
import type { ApiError } from "../../../shared/errors.ts";
import type { DefinitionType, DefinitionVisibility } from "../../../shared/vocabulary.ts";
import type { DefinitionProblem } from "../../../shared/yaml/problems.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import type { LineVersionRow } from "../../../sql/definitions/versions.ts";
import { requireWaiting } from "../../http/request_context.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { type DefinitionDeps, readWritten, type WrittenDocument } from "../document.ts";
import type { Writer } from "../new_draft.ts";
import type { Warning } from "../schemas.ts";
import { listSameNames, listUnknownNames } from "../warnings.ts";
import type { DocumentError, Report } from "./schemas.ts";

/** A document as the client submitted it. */
export interface Submission {
  yaml: string;
  /** The required type and name; null accepts any. */
  type: DefinitionType | null;
  name: string | null;
  visibility: DefinitionVisibility;
  provenance: DefinitionRow["provenance"];
  /** The line of the submitted text at which the document begins, counted from 1. */
  firstLine: number;
}

/** A submitted document and its outcome so far. */
export interface SubmittedItem {
  index: number;
  submission: Submission;
  /** The parsed document; null if parsing failed. */
  document: WrittenDocument | null;
  /** Warnings found before the transaction begins. */
  earlyWarnings: Warning[];
  errors: DocumentError[];
  /** The version that the transaction has added, if any. */
  row: NewVersion | null;
  warnings: Warning[];
  /** The resolved references; set only in a dry run. */
  references: Report["references"];
  /** The line before the document is added; set only in a dry run. */
  line: { versions: readonly string[]; predecessor: Predecessor | null };
}

export type ReadItem = SubmittedItem & { document: WrittenDocument };

export function isRead(item: SubmittedItem): item is ReadItem {
  return item.document !== null;
}

export type WrittenItem = ReadItem & { row: NewVersion };

export function isWritten(item: SubmittedItem): item is WrittenItem {
  return item.document !== null && item.row !== null;
}

type NewVersion = Pick<
  DefinitionRow,
  "id" | "lineId" | "orgSlug" | "type" | "name" | "version" | "status" | "visibility" | "hash"
>;

/** The version that a document is compared with. */
export interface Predecessor extends Pick<LineVersionRow, "id" | "version"> {
  isPublished: boolean;
}

/** Parses the documents one by one in the document worker, in the caller's turns. Stops if the client has disconnected. */
export async function readSubmissions(
  deps: DefinitionDeps,
  { writer, request, submissions }: { writer: Writer; request: Request; submissions: readonly Submission[] },
): Promise<SubmittedItem[]> {
  const work = deps.documents.forCaller(writer.caller.userId, { isBulk: submissions.length > 1 });
  const items: SubmittedItem[] = [];
  for (const [index, submission] of submissions.entries()) {
    requireWaiting(request);
    const outcome = await readWritten(work, submission.yaml, submission);
    const document = outcome.ok ? outcome.document : null;
    const errors = outcome.ok ? [] : errorsOf(outcome, submission);
    const earlyWarnings = document ? await listUnknownNames(deps, document) : [];
    const line = { versions: [], predecessor: null };
    const nothing = { row: null, warnings: [], references: [], line };
    items.push({ index, submission, document, earlyWarnings, errors, ...nothing });
    await yieldEventLoop();
  }
  const sameNames = await listSameNames(
    deps.sql,
    writer,
    items.flatMap(({ document }) => document ?? []),
  );
  for (const { document, earlyWarnings } of items) {
    const warning = document && sameNames.get(nameKey(document));
    if (warning) earlyWarnings.push(warning);
  }
  return items;
}

function errorsOf(
  { error, problems }: { error: ApiError; problems: readonly DefinitionProblem[] },
  submission: Submission,
): DocumentError[] {
  const { code } = error;
  // With these two codes, the error's details only repeat the problems.
  const details = code === "UNPROCESSABLE_ENTITY" || code === "VALIDATION_ERROR" ? {} : detailsOf(error);
  return problems.map((problem) => shifted({ code, ...problem, ...details }, submission));
}

/** Converts an API error to a document error. */
export function toDocumentError(error: ApiError): DocumentError {
  return { code: error.code, message: error.message, ...detailsOf(error) };
}

function detailsOf({ details }: ApiError): Pick<DocumentError, "details"> {
  return details === undefined ? {} : { details };
}

/** Returns a position with its line counted from the start of the submitted text. */
export function shifted<Place extends { line?: number }>(place: Place, { firstLine }: Submission): Place {
  return place.line === undefined ? place : { ...place, line: place.line + firstLine - 1 };
}
