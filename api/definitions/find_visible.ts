/** Finds the definition that a request reads, if it is visible to the caller (docs/contract.md, Definitions). */
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

/** The viewer of a read, and the organization to search. */
interface ReadScope {
  viewer: DefinitionViewer;
  /** The only organization to search; `null` searches all. */
  orgId: string | null;
}

/** The address of a definition to find, and the scope of the search. */
export type ReadTarget = DefinitionAddress & ReadScope;

/** Converts a caller to the viewer that queries take. */
export function viewerOf(caller: Caller | null): DefinitionViewer {
  if (!caller) return ANONYMOUS;
  const { userId, credential } = caller;
  return { userId, boundOrgId: boundOrgOf(caller), isUnproven: isUnproven(credential) };
}

/** A read request and its caller. */
interface ReadRequest {
  caller: Caller | null;
  request: Request;
}

/**
 * Returns the scope of a list. With the header `X-Org-Slug`, the scope is that organization, and the caller must be a member.
 * Otherwise the scope is everything visible to the caller. Throws ORG_ACCESS_DENIED, or UNAUTHORIZED if an anonymous caller
 * sends the header.
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
 * Resolves the organization to search for an address. If the address and `X-Org-Slug` both name an organization, they must
 * match. Throws ORG_ACCESS_DENIED, NOT_FOUND, or UNAUTHORIZED if an anonymous caller sends the header.
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

/** Resolves the organization to search for an address, without `X-Org-Slug`. Throws NOT_FOUND. */
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

/** Finds the version of a read. Throws the same NOT_FOUND for missing versions and for versions hidden from the caller. */
export async function requireDefinition(sql: Sql, target: ReadTarget): Promise<DefinitionRow> {
  return requireResolved(target, await resolveDefinition(sql, target));
}

/** Returns the definition resolved for an address. Throws NOT_FOUND like `requireDefinition`. */
export function requireResolved<Row>(
  address: DefinitionAddress,
  { hasLine, definition }: ResolvedDefinition<Row>,
): Row {
  return requireVisible(definition, () => definitionNotFound(address, hasLine ? "version" : "definition"));
}

/**
 * Finds a version for a read that covers all versions of a line. For a name without a version, any version visible to the
 * caller is enough, including drafts and archived versions. Throws NOT_FOUND.
 */
export async function requireAnyVersion(sql: Sql, target: ReadTarget): Promise<DefinitionRow> {
  return requireResolved(target, await resolveDefinition(sql, { ...target, anyStatus: true }));
}

/** Finds the id of the line to read. If the address has a version, the line must have that version. Throws NOT_FOUND. */
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

/** Returns NOT_FOUND for a definition or version that does not exist or is hidden from the caller. */
export function definitionNotFound(address: DefinitionAddress, reason: "definition" | "version"): ApiError {
  const { type, name, version } = address;
  const found = reason === "version" && version === null ? "published" : reason;
  const message = TEXTS.NOT_FOUND[found](address);
  return new ApiError("NOT_FOUND", { message, details: { reason, type, name } });
}
