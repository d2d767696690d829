/** Finds the definition that a write changes and its organization, and checks that its status allows the change. */
import { allowedTransitions } from "../../shared/definitions/lifecycle.ts";
import type { DefinitionName } from "../../shared/definitions/name.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { maySeeOrg, mayWriteDefinitions } from "../../shared/policy.ts";
import type { DefinitionStatus } from "../../shared/vocabulary.ts";
import { listMembershipsByName, type MembershipRow } from "../../sql/accounts/organization_members.ts";
import { beginAndRetry } from "../../sql/connection/database_fault.ts";
import type { Pool, Sql } from "../../sql/connection/pool.ts";
import { findLineId } from "../../sql/definitions/definition_lines.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { lockDefinition } from "../../sql/definitions/versions.ts";
import { lockActorRole } from "../accounts/require_own_org.ts";
import { auditActor } from "../http/audit_actor.ts";
import type { Caller } from "../http/caller.ts";
import type { OperationDeps } from "../http/operation.ts";
import { requestContext } from "../http/request_context.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { requireVisible } from "../http/require_visible.ts";
import { boundOrgOf, resolveOrg } from "../http/resolve_org.ts";
import { type DefinitionAddress, parseVersionAddress, type VersionAddress } from "./address.ts";
import { definitionNotFound, findTarget, requireLine, viewerOf } from "./find_visible.ts";
import type { StepInTurn, Writer } from "./new_draft.ts";

/** Dependencies of the functions that find a writer. */
type WriterDeps = Pick<OperationDeps, "sql" | "turns">;

interface LineWrite<Address extends DefinitionAddress = DefinitionAddress> {
  address: Address;
  caller: Caller;
  request: Request;
}

/**
 * Returns the writer of a new definition. The organization is the one in the path, or else the one that `resolveOrg` finds.
 * Throws ORG_ACCESS_DENIED. The route must check the role.
 */
export async function findWriter(
  deps: WriterDeps,
  { caller, request, orgSlug = null }: { caller: Caller; request: Request; orgSlug?: string | null },
): Promise<Writer> {
  const org = await resolveOrg(deps.sql, caller, request, orgSlug);
  return writerIn(deps, org, { caller, request, orgSlug });
}

/**
 * Returns the writer and the full address of an existing definition. Without an organization in the path, the key or
 * `X-Org-Slug`, takes the only one with this definition where the caller may write, else one where the role is too low. Throws
 * AMBIGUOUS_ORGANIZATION, ORG_ACCESS_DENIED, or NOT_FOUND if the definition is hidden from the caller.
 */
export async function findLineWriter<Address extends DefinitionAddress>(
  deps: WriterDeps,
  write: LineWrite<Address>,
): Promise<{ writer: Writer; address: Address }> {
  const org = await findLineOrg(deps.sql, write);
  return {
    writer: writerIn(deps, org, { ...write, orgSlug: org.slug }),
    address: { ...write.address, orgSlug: org.slug },
  };
}

/** The writer and the address of a write to one version. */
export interface VersionWrite {
  writer: Writer;
  address: VersionAddress;
}

/** Like `findLineWriter`, but the path must include a version. Throws VALIDATION_ERROR if it does not. */
export async function findVersionWriter(
  deps: WriterDeps,
  { params, caller, request }: { params: DefinitionName; caller: Caller; request: Request },
): Promise<VersionWrite> {
  return findLineWriter(deps, { address: parseVersionAddress(params), caller, request });
}

async function findLineOrg(sql: Sql, write: LineWrite): Promise<MembershipRow> {
  const { address, caller, request } = write;
  const { orgSlug } = address;
  if (orgSlug !== null && !request.headers.has("x-org-slug")) return findPathOrg(sql, write);
  if (request.headers.has("x-org-slug") || boundOrgOf(caller) !== null)
    return resolveOrg(sql, caller, request, orgSlug);
  const orgs = await listMembershipsByName(sql, { userId: caller.userId, names: [address] });
  const open = orgs.filter((org) => maySeeOrg(caller.credential, org).ok);
  const writable = open.filter(({ role }) => mayWriteDefinitions(role).ok);
  if (writable.length > 1) throw ambiguousOrganization(address, writable);
  return requireVisible(writable[0] ?? open[0] ?? null, () => definitionNotFound(address, "definition"));
}

/** Resolves the path's organization. On an error, throws NOT_FOUND unless the caller can see the definition. */
async function findPathOrg(sql: Sql, { address, caller, request }: LineWrite): Promise<MembershipRow> {
  try {
    return await resolveOrg(sql, caller, request, address.orgSlug);
  } catch (error) {
    if (error instanceof ApiError) await requireLine(sql, await findTarget(sql, address, viewerOf(caller)));
    throw error;
  }
}

function writerIn(
  { turns }: WriterDeps,
  org: MembershipRow,
  { caller, request, orgSlug }: { caller: Caller; request: Request; orgSlug: string | null },
): Writer {
  requestContext(request).orgId = org.orgId;
  const isOrgNamed = orgSlug !== null || request.headers.has("x-org-slug") || boundOrgOf(caller) !== null;
  const actor = auditActor(request, caller);
  const inTurn: StepInTurn = (step) => turns.writes(request, step);
  return { caller, viewer: viewerOf(caller), actor, org, isOrgNamed, inTurn };
}

function ambiguousOrganization(address: DefinitionAddress, orgs: readonly MembershipRow[]): ApiError {
  const slugs = orgs.map(({ slug }) => slug);
  const message = TEXTS.AMBIGUOUS_ORGANIZATION({ type: address.type, name: address.name, slugs });
  return new ApiError("AMBIGUOUS_ORGANIZATION", { message, details: { organizations: slugs } });
}

/** Returns the id of a line in the writer's organization. Throws NOT_FOUND, or INSUFFICIENT_ORG_ROLE for an existing line. */
export async function requireOwnLine(sql: Sql, writer: Writer, address: DefinitionAddress): Promise<string> {
  const { orgId, role } = writer.org;
  const found = await findLineId(sql, { orgId, type: address.type, name: address.name });
  const lineId = requireVisible(found, () => definitionNotFound(address, "definition"));
  requireAllowed(mayWriteDefinitions(role), writer.org);
  return lineId;
}

/**
 * Checks the writer's role again inside the transaction, because the role may have changed since the request was authorized.
 * Call this after the transaction's first locks on quotas, lines or versions (`lockMemberRole`).
 */
export async function requireStillWriter(tx: Sql, { actor, org }: Writer): Promise<void> {
  const role = await lockActorRole(tx, { actor, org: { id: org.orgId } });
  requireAllowed(mayWriteDefinitions(role), org);
}

/** Finds and locks the version of an address. Throws NOT_FOUND. */
export async function lockVersion(sql: Sql, lineId: string, address: VersionAddress): Promise<DefinitionRow> {
  const row = await lockDefinition(sql, { lineId, version: address.version });
  return requireVisible(row, () => definitionNotFound(address, "version"));
}

/** Throws INVALID_TRANSITION if a version cannot change from its status to `to`. */
export function requireMove(row: DefinitionRow, to: DefinitionStatus): void {
  if (allowedTransitions(row.status).includes(to)) return;
  throw invalidTransition(row, to, TEXTS.INVALID_TRANSITION.status(row, { from: row.status, to }));
}

export function invalidTransition(
  { status: from }: DefinitionRow,
  to: DefinitionStatus,
  message: string,
): ApiError {
  const allowed = allowedTransitions(from);
  const details = { from, to, allowedTransitions: allowed, applicationState: "not_applied" } as const;
  return new ApiError("INVALID_TRANSITION", { message, details });
}

/**
 * Runs a write transaction in the writer's turn, and retries it after a deadlock. Deadlocks are possible because batches and
 * the deletion of an organization lock lines in another order.
 */
export function runWrite<Result>(
  sql: Pool,
  { inTurn }: Pick<Writer, "inTurn">,
  transaction: (tx: Sql) => Promise<Result>,
): Promise<Result> {
  return inTurn(() => beginAndRetry(sql, transaction));
}

/**
 * Changes one version in the writer's organization in one transaction. Locks the row before passing it to `change`, so that
 * each writer sees the changes of the previous writer.
 */
export async function changeVersion<Result>(
  sql: Pool,
  { writer, address }: VersionWrite,
  change: (tx: Sql, row: DefinitionRow) => Promise<Result>,
): Promise<Result> {
  const lineId = await requireOwnLine(sql, writer, address);
  return runWrite(sql, writer, async (tx) => {
    const row = await lockVersion(tx, lineId, address);
    await requireStillWriter(tx, writer);
    return change(tx, row);
  });
}
