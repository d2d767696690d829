/** The tables of docs/contract.md match the code: datasets, errors and limits. */
import { expect, test } from "bun:test";
import { PASSKEY_MAX_BYTES } from "../../api/accounts/factors/factor_schemas.ts";
import { LIVE_KEYS_MAX } from "../../api/accounts/key_changes.ts";
import { HOURLY_INVITATIONS_MAX, PENDING_INVITATIONS_MAX } from "../../api/accounts/members/invitations.ts";
import { CREATED_ORGS_MAX } from "../../api/accounts/organizations/create.ts";
import { PROJECTS_MAX } from "../../api/accounts/organizations/project_changes.ts";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../api/accounts/password_rules.ts";
import { LIVE_SESSIONS_MAX } from "../../api/accounts/session_changes.ts";
import { MAX_BATCH_DOCUMENTS } from "../../api/definitions/batch/schemas.ts";
import { MAX_DEPENDENCY_NODES } from "../../api/definitions/dependencies/graph.ts";
import { DEFINITION_QUOTAS, VERSIONS_MAX } from "../../api/definitions/quotas.ts";
import { MAX_DOCUMENT_REFERENCES } from "../../api/documents/read_document.ts";
import { MAX_TASKS_PER_CALLER } from "../../api/documents/task_thread.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../../api/http/body/json_limits.ts";
import { maxBodyBytes } from "../../api/http/body/request_body.ts";
import type { OpenApiDocument } from "../../api/openapi/types.ts";
import { PUBLICATIONS_MAX, PUBLICATIONS_WAITING_MAX } from "../../api/turns.ts";
import { MAX_OBJECT_BYTES } from "../../shared/artifacts/s3_upload.ts";
import { MAX_LENGTHS, MAX_TAGS } from "../../shared/definitions/interface_fields.ts";
import { MAX_DEFINITION_NAME_LENGTH } from "../../shared/definitions/name.ts";
import { MAX_DEFINITION_BYTES } from "../../shared/definitions/parse_definition.ts";
import { MAX_VERSION_DIGITS, MAX_VERSION_LENGTH } from "../../shared/definitions/version_numbers.ts";
import { ERRORS } from "../../shared/errors.ts";
import { EXPORT_DATASET_NAMES, EXPORT_DATASETS } from "../../shared/exports/datasets.ts";
import { Environment } from "../../shared/process/config_variables.ts";
import { YAML_LIMITS } from "../../shared/yaml/limits.ts";
import { openTestApp } from "../helpers/http/app.ts";
import { readDocument } from "../helpers/http/openapi.ts";

const text = await Bun.file(new URL("../../docs/contract.md", import.meta.url)).text();

/** Returns the rows of the table with this header, each as a list of cells. */
function readTable(head: string): string[][] {
  const [, after = ""] = text.split(`${head}\n`);
  const [table = ""] = after.split("\n\n");
  const rows = table.split("\n").slice(1);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Returns the code spans of a cell. */
function namesIn(cell = ""): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

test("docs/contract.md lists every dataset with its filters and flags", () => {
  const listed = readTable("| Dataset | Filters | Flags |").map(([name, filters, flags]) => ({
    name: namesIn(name)[0],
    filters: namesIn(filters),
    flags: namesIn(flags).toSorted(),
  }));
  const known = EXPORT_DATASET_NAMES.map((name) => ({
    name,
    filters: EXPORT_DATASETS[name].filters.map((filter) => filter.name),
    flags: EXPORT_DATASETS[name].flags.toSorted(),
  }));
  expect(listed).toEqual(known);
});

test("docs/contract.md lists every error code with its status", () => {
  const listed = readTable("| Code | Status | When | What to do |").map(([code, status]) => [
    namesIn(code)[0],
    Number(status),
  ]);
  const known = Object.entries(ERRORS).map(([code, { status }]) => [code, status]);
  expect(listed).toEqual(known);
});

const count = (value: number) => value.toLocaleString("en-US");

/** A query parameter in the OpenAPI document. */
interface Parameter {
  name: string;
  schema: Record<string, unknown>;
}

function parameterBound(document: OpenApiDocument, place: [string, string], bound: string): string {
  const [path, name] = place;
  const shared = (document.components as { parameters?: Record<string, Parameter> }).parameters ?? {};
  const parameters = (document.paths[`/api/v1${path}`]?.get?.parameters ?? []) as readonly (Parameter & {
    $ref?: string;
  })[];
  const all = parameters.map((one) => shared[one.$ref?.split("/").at(-1) ?? ""] ?? one);
  return count(Number(all.find((parameter) => parameter.name === name)?.schema[bound]));
}

test("docs/contract.md lists the fixed limits with the values from the code", async () => {
  await using api = await openTestApp();
  const document = await readDocument(api);
  const maxItemsOf = (schema: string) =>
    count(Number(/"maxItems":(\d+)/.exec(JSON.stringify(document.components.schemas[schema]))?.[1]));
  expect(Object.fromEntries(readTable("| Fixed limit | Value |"))).toEqual({
    "File of an organization export, if artifacts are in a bucket": `${count(MAX_OBJECT_BYTES)} bytes`,
    "JSON body": `${count(maxBodyBytes("/api/v1/definitions"))} bytes`,
    "JSON body under `/auth`": `${count(maxBodyBytes("/api/v1/auth/login"))} bytes`,
    "JSON body with the response of a passkey": `${count(PASSKEY_MAX_BYTES)} bytes`,
    "JSON nesting": `${MAX_JSON_DEPTH} levels`,
    "JSON members and elements": count(MAX_JSON_VALUES),
    "YAML document": `${count(MAX_DEFINITION_BYTES)} bytes`,
    "YAML nesting": `${YAML_LIMITS.depth} levels`,
    "YAML keys and values": count(YAML_LIMITS.nodes),
    "Lines of YAML outside texts": count(YAML_LIMITS.lines),
    "References in a new document": count(MAX_DOCUMENT_REFERENCES),
    "YAML aliases expanded": count(YAML_LIMITS.aliasExpansions),
    "Name of a definition": `${MAX_DEFINITION_NAME_LENGTH} characters`,
    Version: `${MAX_VERSION_LENGTH} characters, each number ${MAX_VERSION_DIGITS} digits`,
    Tags: `${count(MAX_TAGS)}, together ${count(MAX_LENGTHS.tags)} characters`,
    "Author or subdomain": `${count(MAX_LENGTHS.author)} characters`,
    "Search text": `${parameterBound(document, ["/definitions", "search"], "maxLength")} characters`,
    "Page of definitions": parameterBound(document, ["/definitions", "limit"], "maximum"),
    "Page of versions": parameterBound(document, ["/definitions/{type}/{name}/versions", "limit"], "maximum"),
    "Page of models": parameterBound(document, ["/models", "limit"], "maximum"),
    "Page of export jobs": parameterBound(document, ["/export/jobs", "limit"], "maximum"),
    "Page of projects": parameterBound(document, ["/orgs/{slug}/projects", "limit"], "maximum"),
    "Page of audit entries": parameterBound(document, ["/orgs/{slug}/audit", "limit"], "maximum"),
    "Depth of dependencies": parameterBound(
      document,
      ["/definitions/{type}/{name}/dependencies", "maxDepth"],
      "maximum",
    ),
    "Dependencies in one response": count(MAX_DEPENDENCY_NODES),
    "Definitions in one batch": String(MAX_BATCH_DOCUMENTS),
    "Users in one batch": maxItemsOf("UserIds"),
    "Items in one cost request": maxItemsOf("UsageItems"),
    "API keys of a user": count(LIVE_KEYS_MAX),
    "Sessions of a user": count(LIVE_SESSIONS_MAX),
    "Pending invitations of an organization": count(PENDING_INVITATIONS_MAX),
    "Invitations of a user in an hour": count(HOURLY_INVITATIONS_MAX),
    "Organizations that a user creates": count(CREATED_ORGS_MAX),
    "Projects of an organization, with deleted ones that can be restored": count(PROJECTS_MAX),
    Password: `${PASSWORD_MIN_LENGTH} to ${count(PASSWORD_MAX_LENGTH)} characters`,
    "Large documents a caller has waiting": count(MAX_TASKS_PER_CALLER),
    "Publications of a caller at once": `${PUBLICATIONS_MAX / 2}, and ${PUBLICATIONS_WAITING_MAX} waiting`,
    "Drafts of an organization": count(DEFINITION_QUOTAS.drafts),
    "Definitions of an organization": count(DEFINITION_QUOTAS.lines),
    "Versions of a definition": count(VERSIONS_MAX),
    "YAML of an organization": `${count(DEFINITION_QUOTAS.yamlBytes)} bytes`,
  });
});

test("docs/contract.md lists the configurable limits with the default values", () => {
  const defaults = Object.fromEntries(
    Object.entries(Environment.properties).map(([name, schema]) => [name, String(schema.default)]),
  );
  expect(Object.fromEntries(readTable("| Configurable limit | Default |"))).toEqual({
    "Requests per user and minute": defaults["RATE_LIMIT_USER_PER_MINUTE"],
    "Requests without a credential per address and minute": defaults["RATE_LIMIT_ANONYMOUS_PER_MINUTE"],
    "Sign-ins per address, and per account and network, and minute": defaults["RATE_LIMIT_LOGIN_PER_MINUTE"],
    "Rows of a dataset": defaults["EXPORT_SYNC_MAX_ROWS"],
    "Rows of a bundle": defaults["EXPORT_BUNDLE_MAX_ROWS"],
    "Concurrent exports of a user": defaults["EXPORT_STREAMS_PER_USER"],
    "Minutes of an export or download": defaults["EXPORT_STREAM_MAX_MINUTES"],
    "Export jobs of an organization per hour": defaults["EXPORT_JOBS_PER_HOUR"],
    "Hours an organization export is kept": defaults["EXPORT_RETENTION_HOURS"],
    "Hours of a session": defaults["SESSION_TTL_HOURS"],
  });
});
