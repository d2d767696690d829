/** POST /definitions/validate and /definitions/batch: validates documents, or stores them together. */
import type { Static } from "@sinclair/typebox";
import { mayWriteDefinitions } from "../../../shared/policy.ts";
import { dataOf } from "../../../shared/schemas.ts";
import { type JsonText, jsonText, operation, reply } from "../../http/operation.ts";
import { requireAllowed } from "../../http/require_allowed.ts";
import { invalidField } from "../../http/validation_problems.ts";
import { yieldEventLoop } from "../../http/yield_event_loop.ts";
import { parseLineAddress } from "../address.ts";
import { findWriter } from "../find_writable.ts";
import { readProvenance } from "../provenance.ts";
import { DOCUMENT_FAILURES, WRITE, WRITE_FAILURES } from "../schemas.ts";
import {
  BATCH_YAML_QUERY,
  BatchBody,
  BatchDefinitions,
  BatchReports,
  MAX_BATCH_DOCUMENTS,
  VALIDATE_YAML_QUERY,
  ValidateBody,
  ValidationReport,
} from "./schemas.ts";
import { storeBatch, tryBatch } from "./store_batch.ts";
import type { Submission, WrittenItem } from "./submission.ts";

export const validateDefinition = operation(
  {
    ...WRITE,
    id: "validateDefinition",
    path: "/api/v1/definitions/validate",
    reads: true,
    summary: "Validate a document",
    description:
      "Tries to create the definition and, with `publish`, to publish it. Nothing is stored, and scope `read` is enough. " +
      "Every problem of the document is in `errors` and `warnings`, with its line where it is known. The status is 200 " +
      "for an invalid document, too.",
    body: ValidateBody,
    yamlQuery: VALIDATE_YAML_QUERY,
    response: { 200: dataOf(ValidationReport, "The report") },
    fails: ["ORG_ACCESS_DENIED"],
  },
  async ({ body, request, caller }, deps) => {
    const { type, yaml, name, publish = false, visibility = "private" } = body;
    const address = name === undefined ? null : parseLineAddress({ type, name });
    const writer = await findWriter(deps, { caller, request, orgSlug: address?.orgSlug ?? null });
    const submission = {
      yaml,
      type,
      name: address?.name ?? null,
      visibility,
      provenance: null,
      firstLine: 1,
    };
    const given = { writer, request, submissions: [submission], publish, isBatch: false };
    const [tried] = await tryBatch(deps, given);
    if (!tried) throw new Error("Cannot report on a document that was not tried");
    return reply(200, { data: tried.report });
  },
);

export const createDefinitions = operation(
  {
    ...WRITE,
    id: "createDefinitions",
    path: "/api/v1/definitions/batch",
    summary: "Create or publish several definitions",
    description:
      "Stores up to 200 documents in one transaction: all of them, or none. The type and name of each come from its YAML. " +
      "Documents can reference each other in any order, but not in a circle. A YAML body is a stream, separated by lines " +
      "of `---`. If any document is rejected, the response has the code of the first problem and all of them in " +
      "`details.errors`, each with the `index` of its document; in a YAML body, `line` counts from the start of the body.",
    body: BatchBody,
    yamlQuery: BATCH_YAML_QUERY,
    response: { 200: BatchReports, 201: BatchDefinitions },
    fails: [
      ...WRITE_FAILURES,
      ...DOCUMENT_FAILURES.filter((code) => code !== "NAME_MISMATCH"),
      "VERSION_EXISTS",
      "QUOTA_EXCEEDED",
      "DEPENDENCY_CYCLE",
    ],
  },
  async ({ body, request, caller }, deps) => {
    const { publish = false } = body;
    const submissions = await listSubmissions(body);
    const writer = await findWriter(deps, { caller, request });
    requireAllowed(mayWriteDefinitions(writer.org.role), writer.org);
    const given = { writer, request, submissions, publish };
    if (!body.validate) {
      const written = await storeBatch(deps, given);
      return reply(201, await writeList(written.map(presentWritten)));
    }
    const tried = await tryBatch(deps, { ...given, isBatch: true });
    const definitions = tried.map(({ item: { index, document }, report }) => {
      return { index, type: document?.type ?? null, name: document?.name ?? null, ...report };
    });
    return reply(200, await writeList(definitions, { valid: definitions.every(({ valid }) => valid) }));
  },
);

/** Serializes each definition in its own turn of the event loop, because thousands of references cause megabytes of warnings. */
async function writeList(definitions: readonly object[], more: object = {}): Promise<JsonText<never>> {
  const texts: string[] = [];
  for (const definition of definitions) {
    texts.push(JSON.stringify(definition));
    await yieldEventLoop();
  }
  const empty = JSON.stringify({ data: { ...more, definitions: [] } });
  return jsonText(empty.replace("[]", () => `[${texts.join(",")}]`));
}

function presentWritten({ index, row, warnings }: WrittenItem) {
  const { id, type, name, version, status, visibility, hash } = row;
  return { index, id, type, name, version, status, visibility, hash, warnings };
}

/** Returns the documents of a body. Throws VALIDATION_ERROR. */
async function listSubmissions(body: Static<typeof BatchBody>): Promise<Submission[]> {
  const { definitions, yaml, visibility = "private" } = body;
  if (definitions === undefined && yaml === undefined)
    throw invalidField("definitions", "is required, unless there is yaml");
  if (definitions !== undefined && yaml !== undefined)
    throw invalidField("yaml", "must not be there beside definitions. Send one of them");
  const any = { type: null, name: null };
  if (definitions) {
    return definitions.map((value) => ({
      ...any,
      yaml: value.yaml,
      visibility: value.visibility ?? visibility,
      provenance: readProvenance(value.provenance ?? null),
      firstLine: 1,
    }));
  }
  const documents = await splitStream(yaml ?? "");
  if (documents.length === 0 || documents.length > MAX_BATCH_DOCUMENTS) {
    const message = `must have 1 to ${MAX_BATCH_DOCUMENTS} documents, but has ${documents.length}`;
    throw invalidField("yaml", message);
  }
  return documents.map((document) => ({ ...any, ...document, visibility, provenance: null }));
}

type StreamedDocument = Pick<Submission, "yaml" | "firstLine">;

/** Matches a document marker in the first column, which YAML does not allow inside any scalar or block. */
const MARKER = /^(?:---|\.\.\.)(?=[ \t\r]|$)/;
const BARE_MARKER = /^(?:---|\.\.\.)[ \t\r]*(?:#[^\n]*)?$/;
/** Matches the byte order mark of Windows editors. A stream may be several concatenated files. */
const BYTE_ORDER_MARK = /^\uFEFF(?=(?:---|\.\.\.)(?:[ \t\r]|$)|#)/;
/** Matches blank lines, comments and directives. */
const NO_CONTENT = /^(?:\s*(?:#[^\n]*)?|%[^\n]*)$/;

/** Lines read per turn of the event loop (a few milliseconds). */
const LINES_PER_TURN = 20_000;

/**
 * Splits a YAML stream at its markers. Omits empty documents. Comments and directives before a marker belong to the document
 * that follows.
 */
export async function splitStream(text: string): Promise<StreamedDocument[]> {
  const documents: StreamedDocument[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  let hasContent = false;
  /** Whether the document has a line that is not blank. */
  let hasText = false;
  const startAt = (line: number): void => {
    [lines, firstLine, hasContent, hasText] = [[], line, false, false];
  };
  for (const [index, written] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await yieldEventLoop();
    const line = written.replace(BYTE_ORDER_MARK, "");
    const isMarker = MARKER.test(line);
    const isBare = isMarker && BARE_MARKER.test(line);
    if (isMarker && hasContent) {
      documents.push({ yaml: `${lines.join("\n")}\n`, firstLine });
      startAt(index + 1);
    }
    if (isBare && (line.startsWith(".") || !hasText)) {
      startAt(index + 2);
      continue;
    }
    lines.push(line);
    hasText ||= line.trim() !== "";
    hasContent ||= !isBare && !NO_CONTENT.test(line);
  }
  if (hasContent) documents.push({ yaml: lines.join("\n"), firstLine });
  return documents;
}
