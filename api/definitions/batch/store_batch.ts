/** Submits documents: all of them are stored, or none. Or none is, and the report says what would have happened. */
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { retryOnDeadlock } from "../../../sql/connection/database_fault.ts";
import type { Pool, Sql } from "../../../sql/connection/pool.ts";
import { limitStatements } from "../../../sql/connection/snapshot.ts";
import { withinTimeout } from "../../http/error_handler.ts";
import type { OperationDeps } from "../../http/operation.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import type { Writer } from "../new_draft.ts";
import { riskProfileOf } from "../publish.ts";
import { requireQuota } from "../quotas.ts";
import { applyBatch, batchOf, isRead, type WrittenItem } from "./apply_batch.ts";
import { listBreaks } from "./breaks.ts";
import { type LineState, readLineStates, reportDiff, reportReferences, reportVersion } from "./report.ts";
import type { Report } from "./schemas.ts";
import { readSubmissions, type Submission, type SubmittedItem } from "./submission.ts";

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
export async function storeBatch(deps: OperationDeps, input: SubmitRequest): Promise<WrittenItem[]> {
  const { writer, request, submissions, publish } = input;
  const yamlBytes = submissions.reduce((sum, { yaml }) => sum + Buffer.byteLength(yaml), 0);
  const added = { drafts: submissions.length, lines: 0, yamlBytes };
  await writer.inTurn(() => requireQuota(deps.sql, writer.org, added));
  const items = await readSubmissions(deps, writer, submissions);
  requireNoErrors(items);
  const options = { publish, isDryRun: false, rejectsCycles: !publish };
  const store = () =>
    deps.sql.begin(async (tx) => {
      await limitStatements(tx, STATEMENT_TIMEOUT_MS);
      // A second attempt begins with the errors of reading, of which there are none.
      for (const item of items) item.errors = [];
      const written = await applyBatch(tx, writer, { items, batch: batchOf(writer, items), options });
      requireNoErrors(items);
      return written;
    });
  return deps.turns.publications(request, () => withinTimeout(TOO_LONG, () => retryOnDeadlock(store)));
}

/** Timeout of one statement of a batch, locks included. */
const STATEMENT_TIMEOUT_MS = 10_000;

const TOO_LONG = TEXTS.SERVICE_UNAVAILABLE.batch(STATEMENT_TIMEOUT_MS / 1000);

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

/** The facts of a report that only the transaction knows. */
interface Tried extends Pick<Report, "warnings" | "references"> {
  line: LineState;
}

/** Tries to store the documents, rolls back, and returns a report for each. */
export async function tryBatch(
  deps: OperationDeps,
  { rejectsCycles, ...given }: SubmitRequest & { rejectsCycles: boolean },
): Promise<{ item: SubmittedItem; report: Report }[]> {
  const { writer, request, submissions, publish } = given;
  const items = await readSubmissions(deps, writer, submissions);
  const options = { publish, isDryRun: true, rejectsCycles };
  const errors = items.map((item) => [...item.errors]);
  const attempt = () =>
    dryRun(deps.sql, async (tx) => {
      await limitStatements(tx, STATEMENT_TIMEOUT_MS);
      for (const [index, item] of items.entries()) item.errors = [...(errors[index] ?? [])];
      return tryItems(tx, writer, { items, options });
    });
  const tried = await deps.turns.publications(request, () =>
    withinTimeout(TOO_LONG, () => retryOnDeadlock(attempt)),
  );
  const documents = items.filter(isRead).flatMap((item) => {
    const found = tried.get(item);
    return found ? [{ document: item.document, predecessor: found.line.predecessor }] : [];
  });
  const breaks = await listBreaks(deps, { writer, request }, documents);
  const work = deps.documents.forCaller(writer.caller.userId, { isBulk: items.length > 1 });
  const reports: { item: SubmittedItem; report: Report }[] = [];
  for (const item of items) {
    const { document } = item;
    const found = tried.get(item);
    const diff =
      document && found ? await reportDiff({ sql: deps.sql, work }, document, found.line.predecessor) : null;
    const broken = (document && breaks.get(document)) ?? [];
    reports.push({ item, report: reportOf(item, found, { diff, breaks: broken }) });
  }
  return reports;
}

async function tryItems(
  tx: Sql,
  writer: Writer,
  { items, options }: Omit<Parameters<typeof applyBatch>[2], "batch">,
): Promise<Map<SubmittedItem, Tried>> {
  const read = items.filter(isRead);
  const documents = read.map(({ document }) => document);
  const lines = await readLineStates(tx, writer, documents);
  const batch = batchOf(writer, items);
  const written = await applyBatch(tx, writer, { items, batch, options });
  const byItem = new Map(written.map((one) => [one.item, one]));
  const tried = new Map<SubmittedItem, Tried>();
  for (const [index, item] of read.entries()) {
    const { warnings = [], references = [] } = byItem.get(item) ?? {};
    const line = lines[index] ?? { versions: [], predecessor: null };
    tried.set(item, { line, warnings, references: reportReferences(references, batch) });
    await yieldEventLoop();
  }
  return tried;
}

function reportOf(
  item: SubmittedItem,
  tried: Tried | undefined,
  { diff, breaks }: Pick<Report, "diff" | "breaks">,
): Report {
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
    breaks,
    runtimeMd: document?.content.runtimeMd ?? null,
  };
}

/** Carries the result out of the transaction, which an exception rolls back. */
class RolledBack<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("The transaction was a dry run");
    this.result = result;
  }
}

/** Runs `attempt` in a transaction, rolls it back, and returns the result. Errors that it throws roll back too. */
async function dryRun<Result>(sql: Pool, attempt: (tx: Sql) => Promise<Result>): Promise<Result> {
  try {
    await sql.begin(async (tx) => {
      throw new RolledBack(await attempt(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    throw error;
  }
  throw new Error("Cannot end a dry run: the transaction was committed");
}
