/** Stores all documents of a batch or none, or only reports what storing them would do. */
import { nextPatch } from "../../../shared/definitions/version_numbers.ts";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { beginAndRetry } from "../../../sql/connection/database_fault.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { limitStatements, undoTransaction } from "../../../sql/connection/snapshot.ts";
import { withinTimeout } from "../../http/error_handler.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { requireWaiting } from "../../http/request_context.ts";
import type { Writer } from "../new_draft.ts";
import { riskProfileOf } from "../publish.ts";
import { requireQuota } from "../quotas.ts";
import { applyBatch } from "./apply_batch.ts";
import { listBreaks, reportDiff } from "./report.ts";
import type { Report } from "./schemas.ts";
import {
  isRead,
  isWritten,
  readSubmissions,
  type Submission,
  type SubmittedItem,
  type WrittenItem,
} from "./submission.ts";

interface SubmitRequest {
  writer: Writer;
  request: Request;
  submissions: readonly Submission[];
  publish: boolean;
}

/**
 * Stores the documents in one transaction. If any document is rejected, stores nothing and throws an ApiError with the code of
 * the first problem. `details.errors` lists the problems, each with the index of its document.
 */
export async function storeBatch(deps: OperationDeps, input: SubmitRequest): Promise<WrittenItem[]> {
  const { writer, submissions, publish } = input;
  const yamlBytes = submissions.reduce((sum, { yaml }) => sum + Buffer.byteLength(yaml), 0);
  const added = { drafts: publish ? 0 : submissions.length, lines: 0, yamlBytes };
  await writer.inTurn(() => requireQuota(deps.sql, writer.org, added));
  const items = await readSubmissions(deps, input);
  if (!items.some(isRead)) requireNoErrors(items);
  // If a document cannot be parsed, do a dry run of the others, so that the error lists their problems too.
  const isDryRun = !items.every(isRead);
  const options = { publish, isDryRun, isBatch: true };
  const tried = await runBatch(deps, { ...input, items, options }).catch((error: unknown) => {
    requireNoErrors(items);
    throw error;
  });
  requireNoErrors(tried);
  return tried.filter(isWritten);
}

/** Stores the documents in a transaction, rolls it back, and returns a report for each document. */
export async function tryBatch(
  deps: OperationDeps,
  { isBatch, ...input }: SubmitRequest & { isBatch: boolean },
): Promise<{ item: SubmittedItem; report: Report }[]> {
  const { writer, request, publish } = input;
  const items = await readSubmissions(deps, input);
  const options = { publish, isDryRun: true, isBatch };
  const tried = await runBatch(deps, { ...input, items, options });
  const breaks = await listBreaks(deps, input, tried);
  const work = deps.documents.forCaller(writer.caller.userId, { isBulk: items.length > 1 });
  const reports: { item: SubmittedItem; report: Report }[] = [];
  for (const item of tried) {
    requireWaiting(request);
    const diff = await reportDiff({ sql: deps.sql, work }, item);
    const broken = (item.document && breaks.get(item.document)) ?? [];
    reports.push({ item, report: reportOf(item, { diff, breaks: broken }) });
  }
  return reports;
}

/** Timeout of each statement of a batch, including lock waits. */
const STATEMENT_TIMEOUT_MS = 10_000;

const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.batch(STATEMENT_TIMEOUT_MS / 1000);

/**
 * Applies the documents in a transaction, and retries it after a deadlock. Rolls back a dry run. Returns the documents with
 * their outcomes.
 */
async function runBatch(
  { sql, turns }: OperationDeps,
  input: Pick<SubmitRequest, "writer" | "request"> & Parameters<typeof applyBatch>[2],
): Promise<SubmittedItem[]> {
  const { writer, request, items, options } = input;
  const apply = async (tx: Sql): Promise<SubmittedItem[]> => {
    await limitStatements(tx, STATEMENT_TIMEOUT_MS);
    // Copies the items, so that a retry starts with only the errors found while parsing.
    const applied = items.map((item) => ({ ...item, errors: [...item.errors] }));
    await applyBatch(tx, writer, { items: applied, options });
    if (options.isDryRun) await undoTransaction(tx);
    else requireNoErrors(applied);
    return applied;
  };
  const run = () => beginAndRetry(sql, apply);
  return turns.publications(request, () => withinTimeout(TOO_LONG, run));
}

/** Throws the first error of the documents, with all errors in its details, up to `MAX_ERRORS`. */
function requireNoErrors(items: readonly SubmittedItem[]): void {
  const errors = items.flatMap(({ index, document, errors: found }) => {
    const name = document ? { type: document.type, name: document.name } : {};
    return found.map((error) => ({ index, ...name, ...error }));
  });
  const [first] = errors;
  if (!first) return;
  const { code, index, message, details } = first;
  throw new ApiError(code, {
    message: `Nothing was stored. Document ${index}: ${message}`,
    details: { ...details, errors: errors.slice(0, MAX_ERRORS) },
  });
}

/** Maximum number of problems in an error response. */
const MAX_ERRORS = 200;

function reportOf(item: SubmittedItem, compared: Pick<Report, "diff" | "breaks">): Report {
  const { document, errors, warnings, references, line } = item;
  const version = document?.version ?? null;
  const exists = version !== null && line.versions.includes(version);
  return {
    valid: errors.length === 0,
    errors,
    warnings,
    riskProfile: document && riskProfileOf(document),
    references,
    version: { given: version, exists, nextAvailable: exists ? nextPatch(version, line.versions) : version },
    ...compared,
    runtimeMd: document?.content.runtimeMd ?? null,
  };
}
