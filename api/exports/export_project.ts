/** Finds the project of an export, and checks that the caller may export it: at the start, and while it runs. */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type ExportFacts, maySeeOrg, type Verdict } from "../../shared/policy.ts";
import type { Log } from "../../shared/process/log.ts";
import { isUuid } from "../../shared/uuid.ts";
import { isCredentialLive } from "../../sql/accounts/credentials.ts";
import {
  findReadableProject,
  findReadableProjectByName,
  type ReadableProjectRow,
} from "../../sql/accounts/projects.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { Caller } from "../http/caller.ts";
import { boundOrgOf, resolveOrg } from "../http/organization.ts";
import { requireAllowed } from "../http/require_allowed.ts";

const MAX_PROJECT_NAME_LENGTH = 200;

/** Decides whether a caller may export. */
export type ExportPolicy = (facts: ExportFacts) => Verdict;

/**
 * Finds a project by id in the caller's organizations, or by slug or name in the organization of the request. Throws
 * PROJECT_NOT_FOUND, also for a project that the caller may not see, and the error of `policy`.
 */
export async function requireExportProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string; policy: ExportPolicy },
): Promise<ReadableProjectRow> {
  const project = await findProject(sql, access);
  const { credential } = access.caller;
  requireAllowed(maySeeOrg(credential, { ...project, slug: project.orgSlug }));
  const verdict = access.policy({
    credential,
    role: project.role,
    tier: project.subscriptionTier,
  });
  if (!verdict.ok) throw new ApiError(verdict.code, verdict.details ? { details: verdict.details } : {});
  return project;
}

async function findProject(
  sql: Sql,
  access: { caller: Caller; request: Request; project: string },
): Promise<ReadableProjectRow> {
  const { caller, request, project: name } = access;
  const { userId } = caller;
  if (isUuid(name)) {
    const project = await findReadableProject(sql, { id: name, userId, orgId: boundOrgOf(caller) });
    if (project) return project;
    throw notFound(TEXTS.PROJECT_NOT_FOUND.id(name));
  }
  const { orgId, slug } = await resolveOrg(sql, caller, request);
  if (name.length > MAX_PROJECT_NAME_LENGTH || name.includes("\0")) {
    throw notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: null, slug }));
  }
  const project = await findReadableProjectByName(sql, { name, userId, orgId });
  if (project) return project;
  throw notFound(TEXTS.PROJECT_NOT_FOUND.search({ project: name, slug }));
}

function notFound(message: string): ApiError {
  return new ApiError("PROJECT_NOT_FOUND", { message });
}

/**
 * Checks the credential, then calls `requireAccess`, which throws ApiError if access has ended. A database error ends
 * nothing, because the next check comes soon. Never throws.
 */
export async function mayContinue(
  { sql, log }: { sql: Sql; log: Log },
  caller: Caller,
  requireAccess: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (!(await isCredentialLive(sql, caller.credential))) return false;
    await requireAccess();
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
