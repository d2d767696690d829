/** GET …/lineage, …/forks and …/forkable: a definition's origin, its forks, and whether it can be forked. */
import { Type } from "@sinclair/typebox";
import { TEXTS } from "../../../shared/error_texts.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type ForkOrigin, forkDenial, forkDenialOfSource } from "../../../shared/policy.ts";
import { Count, data, dataOf, Instant, listOf, Nullable, oneOf, Uuid } from "../../../shared/schemas.ts";
import { FORK_DENIALS } from "../../../shared/vocabulary.ts";
import { findMembership } from "../../../sql/accounts/organization_members.ts";
import type { Sql } from "../../../sql/connection/pool.ts";
import { findLineCounts } from "../../../sql/definitions/definition_lines.ts";
import { DEFINITION_FIELDS, type DefinitionRow, NAMED_FIELDS } from "../../../sql/definitions/fields.ts";
import { listForks as listForkRows, listLineage } from "../../../sql/definitions/forks.ts";
import { resolveDefinition } from "../../../sql/definitions/versions.ts";
import { type DefinitionViewer, isMemberOrg } from "../../../sql/definitions/visibility.ts";
import { unauthorized } from "../../http/authenticate.ts";
import { operation, reply } from "../../http/operation.ts";
import { choice } from "../../http/query.ts";
import { resolveOrg } from "../../http/resolve_org.ts";
import { parseReadAddress } from "../address.ts";
import {
  findReadTarget,
  findTarget,
  type ReadTarget,
  requireAnyVersion,
  requireLine,
  viewerOf,
} from "../find_visible.ts";
import { LineOrVersion, objectOf, READ, TypeName, VersionOrId } from "../schemas.ts";

/** Maximum ancestors in a lineage. */
const MAX_LINEAGE = 100;
const MAX_FORKS_SHOWN = 1_000;

const { id, displayName } = DEFINITION_FIELDS;

export const EXAMPLE_FORK = {
  id: "3c1f0a52-5c7e-4d0b-9f57-0d6f4a1b0004",
  definitionId: "6f1b2c3d-7e8f-4a9b-8c0d-1e2f3a4b0005",
  sourceDefinitionId: id.example,
  forkedAt: "2026-11-20T10:00:00.000Z",
};
export const EXAMPLE_FORKED = {
  id: EXAMPLE_FORK.definitionId,
  type: "agent",
  name: "my-reviewer",
  version: "1.0.0",
  authorId: "5b0c4f9e-8f4e-4c53-9a57-6a3d0b1c0006",
  orgId: "9a1d2e3f-1b2c-4d3e-8f4a-5b6c7d8e0007",
};

export const Fork = Type.Object(
  {
    id: Uuid(),
    definitionId: Uuid({ description: "The first version of the fork" }),
    sourceDefinitionId: Nullable(Uuid(), {
      description: "The forked version, which may have been deleted; null if you cannot see it",
    }),
    forkedAt: Instant(),
  },
  { title: "Fork", examples: [EXAMPLE_FORK] },
);
export const ForkSource = objectOf(NAMED_FIELDS, { title: "ForkSource" });

const LineageStep = Type.Object(
  {
    sourceType: TypeName,
    sourceName: Nullable(Type.String({ examples: ["reviewer"] }), {
      description:
        "Name at the time of the fork. Name and version are null if you cannot see the source, or if it was deleted and " +
        "you are not a member of its organization",
    }),
    sourceVersion: Nullable(Type.String({ examples: ["1.0.0"] })),
    source: Nullable(ForkSource, { description: "Null if it was deleted or you cannot see it" }),
    sourceAvailable: Type.Boolean({ examples: [true] }),
  },
  { title: "LineageStep" },
);
const Lineage = Type.Object(
  {
    isFork: Type.Boolean({ examples: [true] }),
    fork: Nullable(Fork),
    source: Nullable(ForkSource, { description: "Null if this is no fork, or the source is unavailable" }),
    chain: listOf(LineageStep, {
      maxItems: 100,
      description: "Nearest source first, up to the first one you cannot see",
    }),
  },
  { title: "Lineage" },
);

export const getLineage = operation(
  {
    ...READ,
    id: "getLineage",
    path: "/api/v1/definitions/{type}/{name}/lineage",
    summary: "Get the lineage of a fork",
    description: "Returns the source of the fork, the source of that, and so on, as far as you can see them.",
    params: LineOrVersion,
    response: { 200: dataOf(Lineage, "The lineage") },
  },
  async ({ params, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const steps = await listLineage(sql, { lineId, viewer: target.viewer, limit: MAX_LINEAGE });
    const chain = steps.map(({ step }) => ({ ...step, sourceAvailable: step.source !== null }));
    const fork = steps[0]?.fork ?? null;
    const source = chain[0]?.source ?? null;
    return reply(200, { data: { isFork: fork !== null, fork, source, chain } });
  },
);

const ForkedDefinition = Type.Object(
  { fork: Fork, definition: objectOf({ ...NAMED_FIELDS, displayName }) },
  {
    title: "ForkedDefinition",
    examples: [{ fork: EXAMPLE_FORK, definition: { ...EXAMPLE_FORKED, displayName: "My reviewer" } }],
  },
);

export const listForks = operation(
  {
    ...READ,
    id: "listForks",
    path: "/api/v1/definitions/{type}/{name}/forks",
    summary: "List the forks of a definition",
    description:
      "Lists the newest forks first, at most 1,000 of the newest 10,000. Forks that you would not find in a list are counted " +
      "in `totalForks` but left out.",
    params: LineOrVersion,
    response: {
      200: data({ forks: listOf(ForkedDefinition), totalForks: Count }, "The forks of all its versions"),
    },
  },
  async ({ params, caller, request }, { sql }) => {
    const target = await findReadTarget(sql, parseReadAddress(params), { caller, request });
    const lineId = await requireLine(sql, target);
    const [forks, counts] = await Promise.all([
      listForkRows(sql, { lineId, viewer: target.viewer, limit: MAX_FORKS_SHOWN }),
      findLineCounts(sql, lineId),
    ]);
    return reply(200, { data: { forks, totalForks: counts?.forkCount ?? 0 } });
  },
);

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
    // The header names the organization of the fork, not the organization to search.
    const org = caller ? await resolveOrg(sql, caller, request) : null;
    const source = await findForkSource(sql, await findTarget(sql, address, viewerOf(caller)));
    const reason = forkDenial(source, org?.role ?? null);
    return reply(200, { data: reason === null ? { canFork: true } : { canFork: false, reason } });
  },
);

/** Throws NOT_FORKABLE for a quarantined version, and for a draft or archived version of an organization the viewer is not in. */
export async function requireForkable(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<void> {
  const reason = forkDenialOfSource(await sourceOf(sql, row, viewer));
  if (reason === null) return;
  const status = row.quarantinedAt === null ? row.status : null;
  throw new ApiError("NOT_FORKABLE", { message: TEXTS.NOT_FORKABLE(row, status), details: { reason } });
}

async function findForkSource(sql: Sql, target: ReadTarget): Promise<ForkOrigin> {
  const { definition } = await resolveDefinition(sql, target);
  if (definition) return sourceOf(sql, definition, target.viewer);
  const row = await requireAnyVersion(sql, target);
  // A name without a version means a published version. Membership does not make an unpublished version forkable.
  return { status: row.status === "archived" ? "archived" : null, isOwn: false, isQuarantined: false };
}

async function sourceOf(sql: Sql, row: DefinitionRow, viewer: DefinitionViewer): Promise<ForkOrigin> {
  const { status, quarantinedAt, orgId } = row;
  const { userId } = viewer;
  const membership = userId === null ? null : await findMembership(sql, { userId, orgId });
  const isOwn = membership !== null && isMemberOrg(viewer, membership);
  return { status, isOwn, isQuarantined: quarantinedAt !== null };
}
