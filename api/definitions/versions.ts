/** GET …/versions and …/diff: how a definition came to be what it is, and what differs between two of its versions. */
import { createHash } from "node:crypto";
import { Elysia } from "elysia";
import { withoutVersion } from "../../shared/definitions/translate/front_matter.ts";
import { mayCompareContent } from "../../shared/policy.ts";
import { SUBSCRIPTION_TIERS, type SubscriptionTier } from "../../shared/vocabulary.ts";
import { listMemberships } from "../../sql/accounts/organization_members.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import type { DefinitionRow } from "../../sql/definitions/fields.ts";
import { listVersionHistory } from "../../sql/definitions/history.ts";
import type { DefinitionViewer } from "../../sql/definitions/visibility.ts";
import type { DiffMode } from "../documents/compare_documents.ts";
import { access } from "../http/access.ts";
import { parseQuery, queryOf } from "../http/query.ts";
import { requireAllowed } from "../http/require_allowed.ts";
import { conditionalJson, conditionalText, joinJson } from "../http/response/conditional_json.ts";
import { DefinitionParams, parseLineReadAddress } from "./address.ts";
import { type DefinitionDeps, readerWork } from "./document.ts";
import { findReadTarget, requireLine, requireTwoVersions } from "./find_readable.ts";
import { DIFF_DETAIL, DIFF_QUERY, VERSIONS_DETAIL, VERSIONS_QUERY } from "./openapi/versions.ts";

export function versionRoutes({ sql, documents }: DefinitionDeps) {
  return new Elysia({ prefix: "/definitions/:type/:name" })
    .use(access)
    .get(
      "/versions",
      async ({ params, request, visitor }) => {
        const address = parseLineReadAddress(params);
        const page = parseQuery(VERSIONS_QUERY, queryOf(request));
        const target = await findReadTarget(sql, { address, visitor, request });
        const lineId = await requireLine(sql, target);
        const { total, versions } = await listVersionHistory(sql, { lineId, ...target.scope, ...page });
        return conditionalJson(request, { data: { versions, total, ...page } });
      },
      { publicAccess: true, params: DefinitionParams, detail: VERSIONS_DETAIL },
    )
    .get(
      "/diff",
      async ({ params, request, visitor }) => {
        const address = parseLineReadAddress(params);
        const { from: fromVersion, to: toVersion, ...mode } = parseQuery(DIFF_QUERY, queryOf(request));
        const target = await findReadTarget(sql, { address, visitor, request });
        const [from, to] = await requireTwoVersions(sql, target, [fromVersion, toVersion]);
        const { viewer } = target.scope;
        if (showsContent(mode)) requireAllowed(mayCompareContent(await findViewerTier(sql, viewer)));
        const { type, name } = to;
        const compared = await readerWork(documents, request).compare({
          type,
          name,
          mode,
          from: from.yaml,
          to: to.yaml,
        });
        return conditionalText(
          request,
          joinJson([JSON.stringify(presentCompared({ from, to }, mode)), compared]),
        );
      },
      { publicAccess: true, params: DefinitionParams, detail: DIFF_DETAIL },
    );
}

/** What is told besides what the documents say. */
function presentCompared({ from, to }: { from: DefinitionRow; to: DefinitionRow }, { full }: DiffMode) {
  const fromPromptHash = hashPrompt(from.runtimeMd);
  const toPromptHash = hashPrompt(to.runtimeMd);
  return {
    fromVersion: from.version,
    toVersion: to.version,
    fromHash: from.hash,
    toHash: to.hash,
    fromPromptHash,
    toPromptHash,
    hasPromptChanges: fromPromptHash !== toPromptHash,
    ...(full ? { fromYaml: from.yaml, toYaml: to.yaml } : {}),
  };
}

/** Returns the digest of a rendering without the version that it carries; otherwise every two versions would differ. */
function hashPrompt(runtimeMd: string | null): string | null {
  if (runtimeMd === null) return null;
  return `sha256:${createHash("sha256").update(withoutVersion(runtimeMd)).digest("hex")}`;
}

/** Whether a response of this mode shows what documents say, and not only where they differ. */
function showsContent({ format, full }: DiffMode): boolean {
  return full || format !== "sections";
}

/** The highest tier among the organizations that count for the viewer; anonymous callers have none. */
async function findViewerTier(sql: Sql, { userId, boundOrgId }: DefinitionViewer): Promise<SubscriptionTier> {
  if (userId === null) return "free";
  const memberships = await listMemberships(sql, userId);
  const tiers = memberships
    .filter(({ orgId }) => boundOrgId === null || orgId === boundOrgId)
    .map(({ tier }) => tier);
  return SUBSCRIPTION_TIERS.findLast((tier) => tiers.includes(tier)) ?? "free";
}
