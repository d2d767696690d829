/** GET /definitions/:type/:name: one definition, whole or in part. */
import { Elysia } from "elysia";
import { writtenName } from "../../shared/definitions/references.ts";
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/exports/file_names.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { listDefinitionReferences } from "../../sql/definitions/references.ts";
import { type DefinitionTextRow, resolveDefinitionText } from "../../sql/definitions/version_json.ts";
import { access } from "../http/access.ts";
import { parseQuery, type QueryValues, queryOf } from "../http/query.ts";
import { conditionalText, joinJson } from "../http/response/conditional_json.ts";
import { reprDigest } from "../http/response/repr_digest.ts";
import { type DefinitionAddress, DefinitionParams, parseReadAddress } from "./address.ts";
import { resolveReferences } from "./dependencies/resolve_references_for_reader.ts";
import { type DefinitionDeps, readerWork } from "./document.ts";
import {
  findReadTarget,
  type ReadDeps,
  type ReadScope,
  type ReadTarget,
  requireFound,
} from "./find_readable.ts";
import { GET_DEFINITION_DETAIL, READ_QUERY } from "./openapi/read.ts";
import { acceptedFormat, READ_FORMATS, splitEnding, type TextFormat } from "./read_format.ts";

export function readRoutes(deps: DefinitionDeps & ReadDeps) {
  const { sql } = deps;
  return new Elysia({ prefix: "/definitions/:type" }).use(access).get(
    "/:name",
    async ({ params, request, visitor }) => {
      const { name, ending } = splitEnding(params.name);
      const format = ending ?? acceptedFormat(request.headers.get("accept"));
      const address = parseReadAddress({ ...params, name });
      const parts = parseQuery(format ? {} : READ_QUERY, queryOf(request));
      const target = await findReadTarget(sql, { address, visitor, request });
      if (format) return respondText(deps, { target, format, request });
      return respond(deps, { target, parts: parts as QueryValues<typeof READ_QUERY>, request });
    },
    { publicAccess: true, params: DefinitionParams, detail: GET_DEFINITION_DETAIL },
  );
}

async function respond(
  deps: DefinitionDeps & ReadDeps,
  given: { target: ReadTarget; parts: QueryValues<typeof READ_QUERY>; request: Request },
): Promise<Response> {
  const { parts, request } = given;
  const { address, scope } = given.target;
  const { includeYaml, includeRuntime, includeRefs, normalize } = parts;
  const text = normalize ? ("yaml" as const) : null;
  const shown = { includeYaml: includeYaml && !normalize, includeRuntime, text };
  const row = requireFound(address, await resolveDefinitionText(deps.sql, { ...address, ...scope }, shown));
  const headers = deprecationHeaders(row, address, deps.config.publicUrl);
  const { type, text: yaml } = row;
  const more: string[] = [];
  if (includeRefs) more.push(JSON.stringify({ refs: await listRefs(deps.sql, row, scope) }));
  if (yaml !== null)
    more.push(await readerWork(deps.documents, request).normalize({ type, yaml, includeYaml }));
  const data = more.length === 0 ? row.json : joinJson([row.json, ...more]);
  return conditionalText(request, `{"data":${data}}`, { ...headers, Vary: "Accept" });
}

/** Responds with one text of the version as a file. Browsers save it: it comes from strangers, and is never a page. */
async function respondText(
  deps: ReadDeps,
  given: { target: ReadTarget; format: TextFormat; request: Request },
): Promise<Response> {
  const { address, scope } = given.target;
  const { contentType, text } = READ_FORMATS[given.format];
  const shown = { includeYaml: false, includeRuntime: false, text };
  const row = requireFound(address, await resolveDefinitionText(deps.sql, { ...address, ...scope }, shown));
  if (row.text === null) throw withoutMarkdown(row);
  const fileName = `${row.name}.${given.format}`;
  return conditionalText(given.request, row.text, {
    ...deprecationHeaders(row, address, deps.config.publicUrl),
    Vary: "Accept",
    "Content-Type": contentType,
    "Repr-Digest": reprDigest(row.text),
    "Content-Disposition": contentDisposition({ ascii: fileName, full: fileName }),
  });
}

function withoutMarkdown({ type, name, version }: DefinitionTextRow): ApiError {
  return new ApiError("NOT_FOUND", {
    message: `The YAML of ${type} "${name}@${version}" cannot be rendered as Markdown. Its translationError says why.`,
    details: { reason: "runtime", type, name },
  });
}

async function listRefs(sql: Sql, { id }: DefinitionTextRow, { viewer }: ReadScope) {
  const references = await listDefinitionReferences(sql, { definitionIds: [id], viewer });
  const resolved = await resolveReferences(sql, { references, viewer });
  return resolved.map(({ reference, target }) => ({
    type: reference.type,
    name: writtenName(reference),
    range: reference.range,
    context: reference.context,
    resolvedVersion: target?.version ?? null,
  }));
}

/**
 * `Deprecation` (RFC 9745) and, with a successor, `Link` (RFC 5829). A successor without an organization is one of the
 * organization that the request named, if it named one.
 */
function deprecationHeaders(
  { type, deprecatedAt, successor }: DefinitionTextRow,
  { orgSlug }: DefinitionAddress,
  publicUrl: string,
): Record<string, string> {
  if (deprecatedAt === null) return {};
  const since = Math.floor(Date.parse(deprecatedAt) / 1000);
  if (successor === null) return { Deprecation: `@${since}` };
  const name = orgSlug === null || successor.startsWith("@") ? successor : `@${orgSlug}/${successor}`;
  const url = `${publicUrl}/api/v1/definitions/${type}/${name}`;
  return { Deprecation: `@${since}`, Link: `<${url}>; rel="successor-version"` };
}
