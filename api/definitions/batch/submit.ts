/** Submits documents: all of them are stored, or none. Or none is, and the report says what would have happened. */
import { ApiError } from "../../../shared/errors.ts";
import { dryRun } from "../../../sql/connection/dry_run.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { PublishDeps } from "../lifecycle.ts";
import type { Writer } from "../new_draft.ts";
import { riskProfileOf } from "../publish.ts";
import { requireQuota } from "../quotas.ts";
import type { Warning } from "../warnings/warnings.ts";
import { makeBatch } from "./order.ts";
import {
  type BrokenDependent,
  type LineState,
  type ReportedDiff,
  type ReportedReference,
  readLineState,
  reportBreaks,
  reportDiff,
  reportReferences,
  reportVersion,
} from "./report.ts";
import { type DocumentError, readSubmissions, type Submission, type SubmittedItem } from "./submission.ts";
import { applyBatch, isRead, type WrittenItem } from "./write_batch.ts";

interface SubmitRequest {
  writer: Writer;
  request: Request;
  submissions: readonly Submission[];
  publish: boolean;
}

/**
 * Stores the documents in one transaction. If any is rejected, nothing is stored: throws an ApiError with the code of the
 * first problem and all problems in `details.errors`, each with the index of its document.
 */
export async function storeBatch(deps: PublishDeps, given: SubmitRequest): Promise<WrittenItem[]> {
  const { writer, request, submissions, publish } = given;
  const yamlBytes = submissions.reduce((sum, { yaml }) => sum + Buffer.byteLength(yaml), 0);
  await requireQuota(deps.sql, writer.org, { drafts: submissions.length, lines: 0, yamlBytes });
  const items = await readSubmissions(deps, writer, submissions);
  requireNoErrors(items);
  return deps.publications.run(request, () =>
    deps.sql.begin(async (tx) => {
      const options = { publish, isDryRun: false, rejectsCircles: !publish };
      const written = await applyBatch(tx, writer, { items, options });
      requireNoErrors(items);
      return written;
    }),
  );
}

/** Details of errors that concern the batch rather than one of its documents. */
function requireNoErrors(items: readonly SubmittedItem[]): void {
  const errors = items.flatMap(({ index, document, errors: found }) => {
    const name = document ? { type: document.type, name: document.name } : {};
    return found.map(({ details = {}, ...error }) => ({ index, ...name, ...error, details }));
  });
  const [first] = errors;
  if (!first) return;
  const { code, index, message, details } = first;
  throw new ApiError(code, {
    message: `Nothing was stored. Document ${index}: ${message}`,
    details: { ...details, errors: errors.slice(0, MAX_ERRORS) },
  });
}

/** Further problems are left out of an error response. */
const MAX_ERRORS = 200;

/** What storing a document would say. */
export interface Report {
  valid: boolean;
  errors: DocumentError[];
  warnings: Warning[];
  riskProfile: object | null;
  references: ReportedReference[];
  version: { given: string | null; exists: boolean; nextAvailable: string | null };
  diff: ReportedDiff | null;
  breaks: BrokenDependent[];
  runtimeMd: string | null;
}

/** The facts of a report that only the transaction knows. */
interface Tried extends Pick<Report, "warnings" | "references" | "breaks"> {
  line: LineState;
}

/** Tries to store the documents, rolls back, and returns a report for each. */
export async function tryBatch(
  deps: PublishDeps,
  { rejectsCircles, ...given }: SubmitRequest & { rejectsCircles: boolean },
): Promise<{ item: SubmittedItem; report: Report }[]> {
  const { writer, request, submissions, publish } = given;
  const items = await readSubmissions(deps, writer, submissions);
  const options = { publish, isDryRun: true, rejectsCircles };
  const tried = await deps.publications.run(request, () =>
    dryRun(deps.sql, (tx) => tryItems(tx, writer, { items, options })),
  );
  const work = deps.documents.forCaller(writer.caller.userId, { isBulk: items.length > 1 });
  const reports: { item: SubmittedItem; report: Report }[] = [];
  for (const item of items) {
    const found = tried.get(item);
    const diff = isRead(item) && found ? await reportDiff(work, item.document, found.line.predecessor) : null;
    reports.push({ item, report: reportOf(item, found, diff) });
  }
  return reports;
}

async function tryItems(
  tx: Sql,
  writer: Writer,
  { items, options }: Parameters<typeof applyBatch>[2],
): Promise<Map<SubmittedItem, Tried>> {
  const read = items.filter(isRead);
  const tried = new Map<SubmittedItem, Tried>();
  for (const item of read) {
    const line = await readLineState(tx, writer, item.document);
    tried.set(item, { line, warnings: [], references: [], breaks: [] });
  }
  const batch = makeBatch(
    writer.org.slug,
    read.map(({ document }) => document),
  );
  for (const { item, row, warnings } of await applyBatch(tx, writer, { items, options })) {
    const found = tried.get(item);
    if (!found) throw new Error("Cannot report on a document that was not submitted");
    const { version } = item.document;
    const { predecessor } = found.line;
    found.warnings = warnings;
    found.references = await reportReferences(tx, writer, { row, batch });
    found.breaks = await reportBreaks(tx, writer, { row, version, predecessor });
  }
  return tried;
}

function reportOf(item: SubmittedItem, tried: Tried | undefined, diff: ReportedDiff | null): Report {
  const { document, errors } = item;
  return {
    valid: errors.length === 0,
    errors,
    warnings: tried?.warnings ?? [],
    riskProfile: document && riskProfileOf(document),
    references: tried?.references ?? [],
    version: document
      ? reportVersion(document.version, tried?.line.versions ?? [])
      : { given: null, exists: false, nextAvailable: null },
    diff,
    breaks: tried?.breaks ?? [],
    runtimeMd: document?.content.runtimeMd ?? null,
  };
}
