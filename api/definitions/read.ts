/** GET /definitions/:type/:name and /definitions/:type/@:orgSlug/:name: one definition, whole or in part. */
import { Elysia, t } from "elysia";
import { normalizeDefinition } from "../../shared/definition_normal_form.ts";
import { parseDefinition } from "../../shared/definition_source.ts";
import { listDefinitionReferences } from "../../sql/definition_references.ts";
import type { DefinitionRow } from "../../sql/definitions.ts";
import { findOrgBySlug } from "../../sql/orgs.ts";
import type { Pool } from "../../sql/pool.ts";
import { access } from "../access.ts";
import { conditionalJson } from "../conditional_json.ts";
import { DefinitionParams, OrgDefinitionParams, parseAddress } from "./address.ts";
import { presentDefinition } from "./present.ts";
import { GET_DEFINITION_DETAIL, GET_ORG_DEFINITION_DETAIL } from "./read_openapi.ts";
import { definitionNotFound, type ReadScope, readScope, requireDefinition, viewerOf } from "./reading.ts";
import { resolveReferences } from "./resolved_references.ts";
import { OPEN } from "./schemas.ts";

const Flag = t.Optional(t.Union([t.Literal("true"), t.Literal("false")]));
const Query = t.Object(
  {
    includeYaml: Flag,
    includeRuntime: Flag,
    includeRefs: Flag,
    normalize: Flag,
  },
  OPEN,
);

export function readRoutes({ sql }: { sql: Pool }) {
  return new Elysia({ prefix: "/definitions/:type" })
    .use(access)
    .get(
      "/:name",
      async ({ params, query, request, visitor }) => {
        const address = parseAddress(params);
        const scope = await readScope(sql, visitor, request);
        const row = await requireDefinition(sql, { address, scope });
        return answer(sql, { row, query, scope, request });
      },
      { publicAccess: true, params: DefinitionParams, query: Query, detail: GET_DEFINITION_DETAIL },
    )
    .get(
      "/@:orgSlug/:name",
      async ({ params, query, request, visitor }) => {
        const address = parseAddress(params);
        const org = await findOrgBySlug(sql, params.orgSlug);
        if (!org) throw definitionNotFound(address, "definition");
        const scope = { viewer: viewerOf(visitor), orgId: org.id };
        const row = await requireDefinition(sql, { address, scope });
        return answer(sql, { row, query, scope, request });
      },
      { publicAccess: true, params: OrgDefinitionParams, query: Query, detail: GET_ORG_DEFINITION_DETAIL },
    );
}

async function answer(
  sql: Pool,
  given: { row: DefinitionRow; query: typeof Query.static; scope: ReadScope; request: Request },
): Promise<Response> {
  const { row, query, scope, request } = given;
  const shown = {
    includeYaml: query.includeYaml !== "false",
    includeRuntime: query.includeRuntime !== "false",
  };
  const data = {
    ...presentDefinition(row, shown),
    ...(query.normalize === "true" ? normalized(row, shown.includeYaml) : {}),
    ...(query.includeRefs === "true" ? { refs: await listRefs(sql, row, scope) } : {}),
  };
  return conditionalJson(request, { data }, deprecationHeaders(row));
}

async function listRefs(sql: Pool, row: DefinitionRow, { viewer }: ReadScope) {
  const { id, orgId } = row;
  const references = (await listDefinitionReferences(sql, id)).map((found) => ({ ...found, orgId }));
  const resolved = await resolveReferences(sql, { references, viewer });
  return resolved.map(({ reference: { type, name, range, context }, target }) => ({
    type,
    name,
    range,
    context,
    resolvedVersion: target?.version ?? null,
  }));
}

/** The canonical text in the place of the author's, and the same as an object. */
function normalized(row: DefinitionRow, includeYaml: boolean) {
  const parsed = parseDefinition(row.yaml, { type: row.type });
  if (!parsed.ok) return notNormalized(parsed.problems[0]?.message ?? "the document does not parse");
  const result = normalizeDefinition(parsed.source);
  if (!result.ok) return notNormalized(result.message);
  return { ...(includeYaml ? { yaml: result.yaml } : {}), normalized: result.normalized };
}

function notNormalized(normalizationError: string) {
  return { normalized: null, normalizationError };
}

/** RFC 9745 for the first, RFC 5829 for the second. */
function deprecationHeaders(row: DefinitionRow): Record<string, string> {
  if (row.deprecatedAt === null) return {};
  const since = Math.floor(Date.parse(row.deprecatedAt) / 1000);
  const link = `</api/v1/definitions/${row.type}/${row.successor}>; rel="successor-version"`;
  return { Deprecation: `@${since}`, ...(row.successor === null ? {} : { Link: link }) };
}
