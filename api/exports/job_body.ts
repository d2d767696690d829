/** Reads the request of POST /export/jobs. The body is optional; unknown or malformed options are errors. */
import { toVisibility } from "../../shared/exports/selection.ts";
import type { ExportJobRow } from "../../sql/exports/jobs.ts";
import { type Query, readValues } from "../http/query.ts";
import { findUnknownFields, invalidInput, type Problem } from "../http/validation_problems.ts";
import { BUNDLE_QUERY, type BundleParameters } from "./export_parameters.ts";

export type JobRequest = BundleParameters;

/**
 * Reads the options. Throws VALIDATION_ERROR with every problem. The query must be empty: an option there would otherwise be
 * ignored, because the other exports take it in the query.
 */
export function parseJobRequest(body: unknown, query: URLSearchParams): JobRequest {
  const given = toObject(body);
  const { values, problems } = readValues(BUNDLE_QUERY, (name) => textsOf(name, given[name]));
  const refused = [...findMisplaced(query), ...findUnknown(given), ...problems];
  if (refused.length > 0) throw invalidInput(refused);
  const { format, as_of: asOf, since, ...flags } = values;
  return { format, asOf, since, visibility: toVisibility(flags) };
}

/**
 * Returns a message that names the options in which an active job differs from the request; null if there are none. The
 * cutoff counts only if the request has one.
 */
export function describeDifferences(job: ExportJobRow, request: JobRequest): string | null {
  const { visibility } = request;
  const options: readonly [name: string, active: unknown, requested: unknown][] = [
    ["format", job.format, request.format],
    ["since", job.since, request.since],
    ["as_of", job.asOf, request.asOf ?? job.asOf],
    ["include_deleted", job.includeDeleted, visibility.includeDeleted],
    ["include_archived", job.includeArchived, visibility.includeArchived],
    ["include_superseded", job.includeSuperseded, visibility.includeSuperseded],
    ["include_resolved", job.includeResolved, visibility.includeResolved],
  ];
  const differing = options
    .filter(([, active, requested]) => active !== requested)
    .map(([name, active, requested]) => `${name} is ${active ?? "unset"}, not ${requested ?? "unset"}`);
  if (differing.length === 0) return null;
  return `Export #${job.number} is still active, with other parameters: ${differing.join("; ")}. Yours was not queued. Wait until #${job.number} has ended or cancel it, then queue yours`;
}

/** Returns an option as the text that a query would have; a value of the wrong type becomes "", which no option accepts. */
function textsOf(name: string, value: unknown): string[] {
  if (value === undefined) return [];
  const declared: Query = BUNDLE_QUERY;
  return [typeof value === declared[name]?.schema["type"] ? String(value) : ""];
}

function findMisplaced(query: URLSearchParams): Problem[] {
  const message = "is not a query parameter here. Send the options of an export job in the JSON body";
  return [...new Set(query.keys())].map((path) => ({ path, message }));
}

function findUnknown(given: Readonly<Record<string, unknown>>): Problem[] {
  return findUnknownFields(given, Object.keys(BUNDLE_QUERY));
}

function toObject(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined || body === null) return {};
  if (typeof body !== "object" || Array.isArray(body)) {
    throw invalidInput([{ path: "", message: "the body must be a JSON object" }]);
  }
  return { ...body };
}
