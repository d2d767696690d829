/** Definitions as the API shows them. */
import type { DefinitionHeadRow, DefinitionRow } from "../../sql/definitions.ts";

/** Of the four languages; there has been one version of each. */
const SCHEMA_VERSION = "1.0";

/** What a list item and a full definition have in common. */
function presentHead(row: DefinitionHeadRow) {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    version: row.version,
    status: row.status,
    domain: row.domain,
    subdomain: row.subdomain,
    agentType: row.agentType,
    displayName: row.displayName,
    description: row.description,
    author: row.author,
    authorshipType: row.authorshipType,
    tags: row.tags,
    authorId: row.authorId,
    orgId: row.orgId,
    tier: row.tier,
    visibility: row.visibility,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    publishedAt: row.publishedAt,
    executionCount: row.executionCount,
    uniqueExecutionCount: row.uniqueExecutionCount,
    forkCount: row.forkCount,
    starCount: row.starCount,
    forkedFromId: row.forkedFromId,
    namespace: `@${row.orgSlug}/${row.name}`,
    minSubscription: "free",
    catalogueTier: null,
    releasedAt: row.firstPublishedAt,
  };
}

/** An item of a list: a definition without its texts. */
export function presentListItem(row: DefinitionHeadRow) {
  return presentHead(row);
}

/** Which of a definition's texts are shown. */
export interface ShownTexts {
  includeYaml: boolean;
  includeRuntime: boolean;
}

const ALL_TEXTS: ShownTexts = { includeYaml: true, includeRuntime: true };

/** The full definition. */
export function presentDefinition(row: DefinitionRow, shown: ShownTexts = ALL_TEXTS) {
  return {
    ...presentHead(row),
    ...(shown.includeYaml ? { yaml: row.yaml } : {}),
    hash: row.hash,
    provenance: row.provenance,
    ...(shown.includeRuntime ? { runtimeMd: row.runtimeMd } : {}),
    promptHash: row.promptHash,
    translatorVersion: row.translatorVersion,
    translationError: row.translationError,
    schemaVersion: SCHEMA_VERSION,
    riskProfile: row.riskProfile,
    deprecatedAt: row.deprecatedAt,
    deprecationReason: row.deprecationReason,
    successor: row.successor,
  };
}

export type Definition = ReturnType<typeof presentDefinition>;
