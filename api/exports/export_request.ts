/** Finds the project of an export, checks access, and parses the parameters common to all exports. */
import { Type } from "@sinclair/typebox";
import { isLongerThan } from "../../shared/characters.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import {
  type ExportVisibility,
  FLAG_DEFAULTS,
  toVisibility,
  type VisibilityFlag,
} from "../../shared/exports/datasets.ts";
import { type ExportFacts, maySeeOrg, type Verdict } from "../../shared/policy.ts";
import type { Log } from "../../shared/process/log.ts";
import { Instant, Text } from "../../shared/schemas.ts";
import { isUuid } from "../../shared/uuid.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../shared/vocabulary.ts";
import { isCredentialLive } from "../../sql/accounts/sessions.ts";
import {
  findVisibleProject,
  findVisibleProjectByName,
  type VisibleProjectRow,
} from "../../sql/accounts/visible_project.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { FORMATS } from "../../sql/exports/dataset_file.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import type { DocumentedForm } from "../http/operation.ts";
import { flag, instant, parseQuery, type Query, type QueryParameter, queryOf, word } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { requireVisible } from "../http/require_visible.ts";
import { boundOrgOf, resolveOrg } from "../http/resolve_org.ts";
import { invalidInput } from "../http/validation_problems.ts";

export const ProjectParams = {
  project: Type.String({
    description: "The project's id, or its slug or name in the organization of the request",
    examples: ["checkout-service"],
  }),
};

/** Error of file endpoints for a user or organization that has used up its share of slots. */
export const SHARE_USED_UP = ["RATE_LIMITED", { share: "user", limit: 2 }] as const;

/** Error of an export with a timestamp that no format can represent. */
export const WRONG_TIME = [
  "UNPROCESSABLE_ENTITY",
  {
    ...{ reason: "time", dataset: "issues", column: "resolvedAt", time: "0044-03-15 00:00:00+00 BC" },
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  },
] as const;

/** Settings common to the export operations of a project. */
export const PROJECT_EXPORT = {
  method: "GET",
  access: "caller",
  tag: "Export",
  params: ProjectParams,
  usesOrg: true,
} as const;

export const PROJECT_FAILURES: readonly ErrorCode[] = [
  "SUBSCRIPTION_REQUIRED",
  "ORG_ACCESS_DENIED",
  "PROJECT_NOT_FOUND",
];

/** Errors common to all operations on bundles. */
export const BUNDLE_FAILURES = [
  ...PROJECT_FAILURES,
  "INSUFFICIENT_ORG_ROLE",
  "KEY_KIND_FORBIDDEN",
  "EXPORT_PREPARE_TIMEOUT",
  WRONG_TIME,
  SHARE_USED_UP,
] as const;

export const FILE_HEADERS = {
  "X-Export-As-Of": { description: "The cutoff: rows created later are excluded", schema: Instant() },
  "X-Export-Next-Since": { description: "Pass it as `since` for the next increment", schema: Instant() },
  "X-Export-Total-Rows": { description: "Exact number of rows in the file", schema: Type.Integer() },
  "Content-Disposition": { description: "`attachment` with a file name", schema: Text },
};

const MAX_PROJECT_NAME_LENGTH = 200;

/** Decides whether a caller may export. */
export type ExportPolicy = (facts: ExportFacts) => Verdict;

/**
 * Finds a project by id in the caller's organizations, or by slug or name in the organization of the request. Throws
 * PROJECT_NOT_FOUND, even for a project that the caller may not see, and the errors of `resolveOrg` and `policy`.
 */
export async function requireExportProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string; policy: ExportPolicy },
): Promise<VisibleProjectRow> {
  const project = await findProject(sql, access);
  const { credential } = access.caller;
  requireAllowed(maySeeOrg(credential, { ...project, slug: project.orgSlug }));
  const { role, subscriptionTier: tier, orgSlug: slug } = project;
  requireAllowed(access.policy({ credential, role, tier }), { slug });
  return project;
}

async function findProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string },
): Promise<VisibleProjectRow> {
  const { caller, request, project: name } = access;
  const { userId } = caller;
  if (isUuid(name)) {
    const byId = await findVisibleProject(sql, { id: name, userId, orgId: boundOrgOf(caller) });
    if (!byId) return findNamedLikeId(sql, access);
    // An id needs no X-Org-Slug, but the header must name one of the caller's organizations, as in every request.
    if (request.headers.has("x-org-slug")) await resolveOrg(sql, caller, request);
    return byId;
  }
  const { orgId, slug } = await resolveOrg(sql, caller, request);
  if (isLongerThan(name, MAX_PROJECT_NAME_LENGTH) || name.includes("\0")) {
    throw notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: null, slug }));
  }
  const project = await findVisibleProjectByName(sql, { name, userId, orgId });
  return requireVisible(project, () => notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: name, slug })));
}

/** Finds a project whose name looks like an id. Throws PROJECT_NOT_FOUND even if the organization is the problem. */
async function findNamedLikeId(
  sql: Sql,
  { caller, request, project: name }: { caller: Caller; request: Request; project: string },
): Promise<VisibleProjectRow> {
  const org = await resolveOrg(sql, caller, request).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  const project =
    org && (await findVisibleProjectByName(sql, { name, userId: caller.userId, orgId: org.orgId }));
  return requireVisible(project, () => notFound(TEXTS.PROJECT_NOT_FOUND.id(name)));
}

function notFound(message: string): ApiError {
  return new ApiError("PROJECT_NOT_FOUND", { message });
}

/** Repeats the initial checks: the credential, then `requireAccess`. Throws ApiError if access has ended. */
export async function repeatChecks(
  sql: Sql,
  caller: Caller,
  requireAccess: () => Promise<unknown>,
): Promise<void> {
  if (!(await isCredentialLive(sql, caller.credential))) {
    throw unauthorized(TEXTS.UNAUTHORIZED.credential);
  }
  await requireAccess();
}

/** Returns whether the caller still has access; true on a database error, because the next check follows soon. Never throws. */
export async function mayContinue(
  { sql, log }: { sql: Sql; log: Log },
  caller: Caller,
  requireAccess: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await repeatChecks(sql, caller, requireAccess);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    log.warn(
      { event: "export.access_unknown", err: error },
      "cannot check whether the caller of an export still has access",
    );
    return true;
  }
}

export const EXAMPLE_AS_OF = "2026-11-20T10:00:00.000Z";

/** Parameters common to all exports of a project. */
export interface ExportParameters {
  format: ExportFormat;
  /** The cutoff, truncated to milliseconds; null if the service chooses it. */
  asOf: string | null;
  /** Start of an increment, truncated to milliseconds; null for a full export. */
  since: string | null;
  visibility: ExportVisibility;
}

export function formatParameter<Format extends ExportFormat>(formats: readonly [Format, ...Format[]]) {
  const described = formats.map((format) => `\`${format}\`: ${FORMATS[format].description}`);
  return word(formats, described.join(". "), `must be ${formats.join(", ").replace(/, (\w+)$/, " or $1")}`);
}

export const COMMON_QUERY = {
  format: formatParameter(EXPORT_FORMATS),
  as_of: {
    ...instant(
      "The cutoff, an ISO 8601 time with an offset. Rows created later are excluded, so later exports with the same " +
        "cutoff have no additional rows. Default: the latest cutoff that no open transaction can still write behind; it " +
        "is returned in X-Export-As-Of",
    ),
    example: EXAMPLE_AS_OF,
  },
  since: instant(
    "Only rows that changed after this time, up to the cutoff: X-Export-Next-Since of an earlier export. Rows that left " +
      "the export are in deleted.ndjson of a bundle, and at /export/projects/{project}/deleted. At most 90 days ago",
  ),
};

function flagParameter(name: VisibilityFlag, description: string): QueryParameter<boolean> {
  return flag(FLAG_DEFAULTS[name], description, "must be true or false");
}

export const FLAGS: Readonly<Record<VisibilityFlag, QueryParameter<boolean>>> = {
  include_deleted: flagParameter(
    "include_deleted",
    "Include deleted issues and the rows that belong to them",
  ),
  include_archived: flagParameter(
    "include_archived",
    "Include archived runs and the rows that belong to them",
  ),
  include_superseded: flagParameter("include_superseded", "Include superseded analysis rows"),
  include_resolved: flagParameter(
    "include_resolved",
    "Include issues that are completed, wontfix or false-positive, and the rows that belong to them",
  ),
};

export const BUNDLE_QUERY = { ...COMMON_QUERY, ...FLAGS };

/** Parses the parameters of a bundle. Throws VALIDATION_ERROR with every problem. */
export function parseBundleParameters(query: URLSearchParams): ExportParameters {
  const { format, as_of: asOf, since, ...flags } = parseQuery(BUNDLE_QUERY, query);
  return { format, asOf, since, visibility: toVisibility(flags) };
}

/** Formats with a path ending. A path without an ending returns NDJSON by default. */
export const FORMAT_ENDINGS = ["csv", "parquet"] as const;
export type FormatEnding = (typeof FORMAT_ENDINGS)[number];

/** Returns a request's query with the format of the path ending. Throws VALIDATION_ERROR if the query also has a format. */
export function queryWithEnding(request: Request, ending: FormatEnding | null): URLSearchParams {
  const query = queryOf(request);
  if (ending === null) return query;
  if (query.has("format")) {
    const message = `is not a parameter of this endpoint: the path ends in .${ending}`;
    throw invalidInput([{ path: "format", message }]);
  }
  query.set("format", ending);
  return query;
}

/** Declaration of a path whose ending selects the format. */
interface FormattedPath extends Omit<DocumentedForm, "uncheckedQuery" | "response"> {
  /** Query parameters of the path without an ending. */
  query: Query;
  /** The schema of an NDJSON row. */
  rowSchema: object;
  endings: readonly FormatEnding[];
}

/** Returns one OpenAPI operation per format of a path. The path without an ending is documented as NDJSON. */
export function listForms({ query, rowSchema, endings, ...form }: FormattedPath): DocumentedForm[] {
  const { format: _, ...endingQuery } = query;
  const others = endings.map(
    (ending) => `\`format=${ending}\` responds as the path that ends in \`.${ending}\``,
  );
  const format = word(["ndjson"], `\`ndjson\` keeps every value. ${others.join(", ")}`);
  // Generated clients return a string, which can be split into rows.
  const lines = {
    type: "string",
    contentMediaType: mediaTypeOf("ndjson"),
    contentSchema: { type: "array", items: rowSchema },
  };
  return [
    {
      ...form,
      uncheckedQuery: { ...query, format },
      response: {
        200: {
          description: "The rows: one JSON object per line",
          files: { [mediaTypeOf("ndjson")]: lines },
        },
      },
    },
    ...endings.map((ending) => {
      const { title, description, isCompressed } = FORMATS[ending];
      const content = isCompressed ? { type: "string", format: "binary" } : null;
      return {
        ...form,
        id: form.id + ending.charAt(0).toUpperCase() + ending.slice(1),
        path: `${form.path}.${ending}`,
        summary: `${form.summary} as ${title}`,
        uncheckedQuery: endingQuery,
        response: { 200: { description, files: { [mediaTypeOf(ending)]: content } } },
      };
    }),
  ];
}

/** Returns the media type of a format, without its parameters. */
export function mediaTypeOf(format: ExportFormat): string {
  return FORMATS[format].contentType.replace(/;.*/, "");
}
