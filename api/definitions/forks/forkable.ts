/** GET …/forkable: which versions can be forked, and by whom. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type ForkOrigin, forkDenial, forkDenialOfSource } from "../../../shared/policy.ts";
import { FORK_DENIALS, type ForkDenial } from "../../../shared/vocabulary.ts";
import { findMembership } from "../../../sql/accounts/organization_members.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../../sql/definitions/fields.ts";
import { resolveDefinition } from "../../../sql/definitions/versions.ts";
import { type DefinitionViewer, isMemberOrg } from "../../../sql/definitions/visibility.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { operation, reply } from "../../http/operation.ts";
import { choice } from "../../http/query.ts";
import { resolveOrg } from "../../http/resolve_org.ts";
import { data, oneOf } from "../../http/schemas.ts";
import { type DefinitionAddress, parseReadAddress, type VersionId } from "../address.ts";
import {
  findTarget,
  type ReadRequest,
  type ReadTarget,
  requireAnyVersion,
  viewerOf,
} from "../find_visible.ts";
import { READ, VersionOrId } from "../schemas.ts";

export const getForkable = operation(
  {
    ...READ,
    id: "getForkable",
    path: "/api/v1/definitions/{type}/{name}/forkable",
    summary: "Check whether a definition can be forked",
    description: "Into the organization the call means; `reason` says why not.",
    params: VersionOrId,
    query: {
      canForkAsPrivate: choice(["true", "false"], "Accepted for compatibility; does not change the result"),
    },
    response: {
      200: data(
        {
          canFork: Type.Boolean(),
          reason: Type.Optional(oneOf(FORK_DENIALS, { examples: ["UNAUTHENTICATED"] })),
        },
        "Whether you can fork it, and the reason if not",
      ),
    },
  },
  async ({ params, caller, request }, { sql }) => {
    const reason = await findForkDenial(sql, parseReadAddress(params), { caller, request });
    return reply(200, { data: reason === null ? { canFork: true } : { canFork: false, reason } });
  },
);

/** Throws NOT_FORKABLE for a version that is neither published nor deprecated, nor the caller's own. */
export async function requireForkable(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<void> {
  const reason = forkDenialOfSource(await sourceOf(sql, row, viewer));
  if (reason === null) return;
  const status = row.quarantinedAt === null ? row.status : null;
  throw new ApiError("NOT_FORKABLE", {
    message: TEXTS.NOT_FORKABLE(row, status),
    details: { reason },
  });
}

/**
 * Why a caller cannot fork what an address names; `null` when they can. `X-Org-Slug` names the organization that gets
 * the fork, and not where to look. Throws NOT_FOUND, ORG_ACCESS_DENIED, or UNAUTHORIZED for a header without a
 * credential.
 */
async function findForkDenial(
  sql: Sql,
  address: DefinitionAddress | VersionId,
  { caller, request }: ReadRequest,
): Promise<ForkDenial | null> {
  if (!caller && request.headers.has("x-org-slug")) throw unauthorized(TEXTS.UNAUTHORIZED.org);
  const org = caller ? await resolveOrg(sql, caller, request) : null;
  const source = await findForkSource(sql, await findTarget(sql, address, viewerOf(caller)));
  return forkDenial(source, org?.role ?? null);
}

async function findForkSource(sql: Sql, target: ReadTarget): Promise<ForkOrigin> {
  const { address, scope } = target;
  const { definition } = await resolveDefinition(sql, { ...address, ...scope });
  if (definition) return sourceOf(sql, definition, scope.viewer);
  const row = await requireAnyVersion(sql, target);
  // A name without a version stands for a published one: being a member does not make one of it.
  return { status: row.status === "archived" ? "archived" : null, isOwn: false, isQuarantined: false };
}

async function sourceOf(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<ForkOrigin> {
  const { status, quarantinedAt } = row;
  return { status, isOwn: await isOwn(sql, row, viewer), isQuarantined: quarantinedAt !== null };
}

/** Whether a version belongs to an organization that the viewer is a member of. */
async function isOwn(sql: Sql, { orgId }: DefinitionRow, viewer: DefinitionViewer): Promise<boolean> {
  const { userId } = viewer;
  const membership = userId === null ? null : await findMembership(sql, { userId, orgId });
  return membership !== null && isMemberOrg(viewer, membership);
}
