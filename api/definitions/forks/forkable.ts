/** GET …/forkable: which versions can be forked, and by whom. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type ForkOrigin, forkDenial, forkDenialOfSource } from "../../../shared/policy.ts";
import { FORK_DENIALS } from "../../../shared/vocabulary.ts";
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
import { parseReadAddress } from "../address.ts";
import { findTarget, type ReadTarget, requireAnyVersion, viewerOf } from "../find_visible.ts";
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
    const address = parseReadAddress(params);
    if (!caller && request.headers.has("x-org-slug")) throw unauthorized(TEXTS.UNAUTHORIZED.org);
    // The header names the organization that gets the fork, and not where to look.
    const org = caller ? await resolveOrg(sql, caller, request) : null;
    const source = await findForkSource(sql, await findTarget(sql, address, viewerOf(caller)));
    const reason = forkDenial(source, org?.role ?? null);
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

async function findForkSource(sql: Sql, target: ReadTarget): Promise<ForkOrigin> {
  const { definition } = await resolveDefinition(sql, target);
  if (definition) return sourceOf(sql, definition, target.viewer);
  const row = await requireAnyVersion(sql, target);
  // A name without a version stands for a published one: being a member does not make one of it.
  return { status: row.status === "archived" ? "archived" : null, isOwn: false, isQuarantined: false };
}

async function sourceOf(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<ForkOrigin> {
  const { status, quarantinedAt, orgId } = row;
  const { userId } = viewer;
  const membership = userId === null ? null : await findMembership(sql, { userId, orgId });
  const isOwn = membership !== null && isMemberOrg(viewer, membership);
  return { status, isOwn, isQuarantined: quarantinedAt !== null };
}
