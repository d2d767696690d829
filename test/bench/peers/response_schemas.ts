/** The peers' answers as schemas, from which Fastify compiles what writes them. */

const TEXT = { type: "string", nullable: true };
const TRUTH = { type: "boolean" };
const NUMBER = { type: "number", nullable: true };
/** Of any shape, written as it is. */
const ANY = {};
const record = (properties: Record<string, object>) => ({ type: "object", properties });
const list = (items: object) => ({ type: "array", items });

/** The same schema for every name. */
function each(schema: object, ...names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

const PAGE = { ...each(NUMBER, "total", "limit", "offset"), hasMore: TRUTH };

export const PROFILE_SCHEMA = record({
  data: record(each(TEXT, "id", "username", "name", "bio", "websiteUrl", "avatar", "avatarMimeType")),
});

const MODEL_ITEM = {
  ...each(TEXT, "provider", "modelId", "name", "family", "tier", "status", "releaseDate"),
  capabilities: record(
    each(TRUTH, "vision", "tools", "streaming", "reasoning", "structuredOutput", "attachment"),
  ),
  limits: record(each(NUMBER, "context", "output")),
  cost: record(each(NUMBER, "input", "output", "cacheRead", "cacheWrite")),
};
const ALIAS = record({ ...each(TEXT, "alias", "provider", "modelId", "scope"), deprecated: TRUTH });
export const MODELS_SCHEMA = record({
  data: record({ models: list(record(MODEL_ITEM)), aliases: list(ALIAS), ...PAGE }),
});
const MODEL = record({
  ...MODEL_ITEM,
  ...each(TEXT, "description", "providerModelId", "knowledgeCutoff", "syncedAt"),
  openWeights: TRUTH,
  modalities: record(each(list(TEXT), "input", "output")),
});
export const RESOLVE_SCHEMA = record({ data: record({ ...each(TEXT, "alias", "target"), model: MODEL }) });

const DEFINITION_ITEM = {
  ...each(TEXT, "id", "type", "name", "version", "status", "domain", "subdomain", "agentType", "displayName"),
  ...each(TEXT, "description", "author", "authorshipType", "authorId", "orgId", "tier", "visibility"),
  ...each(TEXT, "createdAt", "updatedAt", "publishedAt", "forkedFromId", "namespace", "releasedAt"),
  ...each(NUMBER, "executionCount", "uniqueExecutionCount", "forkCount", "starCount"),
  tags: list(TEXT),
};
export const DEFINITIONS_SCHEMA = record({
  data: record({ definitions: list(record(DEFINITION_ITEM)), ...PAGE }),
});
export const DEFINITION_SCHEMA = record({
  data: record({
    ...DEFINITION_ITEM,
    ...each(TEXT, "yaml", "hash", "runtimeMd", "promptHash", "translatorVersion", "deprecatedAt"),
    ...each(TEXT, "deprecationReason", "successor"),
    ...each(ANY, "provenance", "translationError", "riskProfile"),
  }),
});
