/** Finds the definition of a read, if the caller may see it (docs/contract.md, Definitions). */
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { isUnproven } from "../../shared/policy.ts";
import type { MembershipRow } from "../../sql/accounts/organization_members.ts";
import { findDefinitionOwnerId } from "../../sql/accounts/orgs.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { findVisibleLine } from "../../sql/definitions/definition_lines.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import {
  findVisibleVersion,
  type ResolvedDefinition,
  resolveDefinition,
} from "../../sql/definitions/versions.ts";
import { ANONYMOUS, type DefinitionViewer } from "../../sql/definitions/visibility.ts";
import { unauthorized } from "../http/authenticate.ts";
import type { Caller } from "../http/caller.ts";
import { requireVisible } from "../http/require_visible.ts";
import { boundOrgOf, orgsDiffer, resolveOrg } from "../http/resolve_org.ts";
import type { DefinitionAddress, VersionId } from "./address.ts";

/** Where a read searches, and for which viewer. */
interface ReadScope {
  viewer: DefinitionViewer;
  /** The only organization searched; `null` for all. */
  orgId: string | null;
}

/** A definition to look for, and where. */
export type ReadTarget = DefinitionAddress & ReadScope;

/** Returns the caller as queries need it. */
export function viewerOf(caller: Caller | null): DefinitionViewer {
  if (!caller) return ANONYMOUS;
  const { userId, credential } = caller;
  return { userId, boundOrgId: boundOrgOf(caller), isUnproven: isUnproven(credential) };
}

/** The request of a read, and its caller. */
interface ReadRequest {
  caller: Caller | null;
  request: Request;
}

/**
 * Returns where lists and reads by a bare name search: with `X-Org-Slug` that organization, which requires membership,
 * else everything the caller may see. Throws ORG_ACCESS_DENIED, or UNAUTHORIZED for anonymous callers.
 */
export async function readScope(sql: Sql, read: ReadRequest): Promise<ReadScope> {
  const org = await findHeaderOrg(sql, read);
  return { viewer: viewerOf(read.caller), orgId: org?.orgId ?? null };
}

async function findHeaderOrg(sql: Sql, { caller, request }: ReadRequest): Promise<MembershipRow | null> {
  if (!request.headers.has("x-org-slug")) return null;
  if (!caller) throw unauthorized(TEXTS.UNAUTHORIZED.org);
  return resolveOrg(sql, caller, request);
}

/**
 * Finds out where a read looks for an address. `X-Org-Slug` must name the organization of the address if both are
 * given. Throws ORG_ACCESS_DENIED, UNAUTHORIZED for a header of anonymous callers, or NOT_FOUND.
 */
export async function findReadTarget(
  sql: Sql,
  address: DefinitionAddress | VersionId,
  read: ReadRequest & { seesAll?: boolean },
): Promise<ReadTarget> {
  const org = await findHeaderOrg(sql, read);
  const viewer = { ...viewerOf(read.caller), seesAll: read.seesAll ?? false };
  if (!org) return findTarget(sql, address, viewer);
  const scope = { viewer, orgId: org.orgId };
  if ("id" in address) return findVersionTarget(sql, address, scope);
  if (address.orgSlug !== null && address.orgSlug !== org.slug) throw orgsDiffer();
  return { ...address, ...scope, orgSlug: org.slug };
}

/** Finds out where a read without `X-Org-Slug` looks for an address. Throws NOT_FOUND. */
export async function findTarget(
  sql: Sql,
  address: DefinitionAddress | VersionId,
  viewer: DefinitionViewer,
): Promise<ReadTarget> {
  if ("id" in address) return findVersionTarget(sql, address, { viewer, orgId: null });
  if (address.orgSlug === null) return { ...address, viewer, orgId: null };
  const orgId = requireVisible(await findDefinitionOwnerId(sql, address.orgSlug), () =>
    definitionNotFound(address, "definition"),
  );
  return { ...address, viewer, orgId };
}

async function findVersionTarget(sql: Sql, { type, id }: VersionId, scope: ReadScope): Promise<ReadTarget> {
  const found = await findVisibleVersion(sql, { type, id, ...scope });
  const { orgId, orgSlug, name, version } = requireVisible(found, () => {
    const message = TEXTS.NOT_FOUND.id({ type, id });
    return new ApiError("NOT_FOUND", { message, details: { reason: "version", type, id } });
  });
  return { type, orgSlug, name, version, viewer: scope.viewer, orgId };
}

/** Finds the version of a read. Throws NOT_FOUND, the same for what does not exist and what the caller may not see. */
export async function requireDefinition(sql: Sql, target: ReadTarget): Promise<DefinitionRow> {
  return requireResolved(target, await resolveDefinition(sql, target));
}

/** Returns the definition that was found for an address. Throws NOT_FOUND as `requireDefinition` does. */
export function requireResolved<Row>(
  address: DefinitionAddress,
  { hasLine, definition }: ResolvedDefinition<Row>,
): Row {
  return requireVisible(definition, () => definitionNotFound(address, hasLine ? "version" : "definition"));
}

/**
 * Finds the version of a read that concerns all versions of a line. A name without a version is found as long as the
 * caller may see any, archived ones and drafts too. Throws NOT_FOUND.
 */
export async function requireAnyVersion(sql: Sql, target: ReadTarget): Promise<DefinitionRow> {
  return requireResolved(target, await resolveDefinition(sql, { ...target, anyStatus: true }));
}

/** Finds the id of the line of a read: the one that has the version, if the address has one. Throws NOT_FOUND. */
export async function requireLine(sql: Sql, target: ReadTarget): Promise<string> {
  if (target.version !== null) return (await requireDefinition(sql, target)).lineId;
  const line = await findVisibleLine(sql, target);
  return requireVisible(line, () => definitionNotFound(target, "definition")).id;
}

/** Finds two versions of one line. Throws NOT_FOUND. */
export async function requireTwoVersions(
  sql: Sql,
  target: ReadTarget,
  versions: readonly [string, string],
): Promise<[DefinitionRow, DefinitionRow]> {
  const { orgId } = requireVisible(await findVisibleLine(sql, target, versions), () =>
    definitionNotFound({ ...target, version: versions[0] }, "definition"),
  );
  const find = (version: string) => requireDefinition(sql, { ...target, version, orgId });
  return Promise.all([find(versions[0]), find(versions[1])]);
}

/** Returns the error for a definition, or a version of one, that does not exist for the caller. */
export function definitionNotFound(address: DefinitionAddress, reason: "definition" | "version"): ApiError {
  const { type, name, version } = address;
  const found = reason === "version" && version === null ? "published" : reason;
  const message = TEXTS.NOT_FOUND[found](address);
  return new ApiError("NOT_FOUND", { message, details: { reason, type, name } });
}
