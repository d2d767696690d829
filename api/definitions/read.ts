/** GET /definitions/{type}/{name}: returns all or part of a definition, or one of its texts as a file. */
import { type TProperties, Type } from "@sinclair/typebox";
import { writtenName } from "../../shared/definitions/references.ts";
import { TEXTS } from "../../shared/error_texts.ts";
import { ApiError } from "../../shared/errors.ts";
import { contentDisposition } from "../../shared/exports/file_names.ts";
import { dataOf, Text } from "../../shared/schemas.ts";
import type { Sql } from "../../sql/connection/pool.ts";
import { listDefinitionReferences } from "../../sql/definitions/references.ts";
import { type DefinitionTextRow, resolveDefinitionText } from "../../sql/definitions/versions.ts";
import { parseAcceptedValues } from "../http/accepted_values.ts";
import {
  type DocumentedForm,
  joinJson,
  jsonText,
  type OperationDeps,
  operation,
  reply,
} from "../http/operation.ts";
import { flag, parseQuery, type QueryValues, queryOf } from "../http/query.ts";
import { reprDigest } from "../http/response/repr_digest.ts";
import { parseReadAddress } from "./address.ts";
import { type OnStep, resolveInTurn } from "./dependencies/resolve_in_turn.ts";
import { resolveReferences } from "./dependencies/resolve_references.ts";
import { readerWork } from "./document.ts";
import { findReadTarget, type ReadTarget, requireResolved } from "./find_visible.ts";
import { Definition, READ, VersionOrId } from "./schemas.ts";

/** Text formats by the file extension in the address. */
const READ_FORMATS = {
  md: { mediaType: "text/markdown", contentType: "text/markdown; charset=utf-8", text: "runtimeMd" },
  yaml: { mediaType: "application/yaml", contentType: "application/yaml", text: "yaml" },
} as const;

type TextFormat = keyof typeof READ_FORMATS;

const READ_QUERY = {
  includeYaml: flag(true, "Include the YAML source"),
  includeRuntime: flag(true, "Include the rendered Markdown"),
  includeRefs: flag(false, "Include `refs`: the references in the YAML, and the version each resolves to"),
  normalize: flag(false, "Return the canonical YAML in `yaml`, and as an object in `normalized`"),
};

const DEPRECATION_HEADERS = {
  Deprecation: { description: "Time of deprecation (RFC 9745)", schema: Text },
  Link: { description: 'The successor of a deprecated version, rel="successor-version"', schema: Text },
};

const FILE_HEADERS = {
  ...DEPRECATION_HEADERS,
  "Content-Disposition": { description: "`attachment` with a file name", schema: Text },
  "Repr-Digest": { description: "SHA-256 of the bytes as they are sent (RFC 9530)", schema: Text },
};

const ADDRESS = "/api/v1/definitions/{type}";

const OrgAddress = {
  type: VersionOrId.type,
  orgSlug: Type.String({ description: "The organization's slug", examples: ["demo"] }),
  name: Type.String({
    description:
      "`name` for the highest published version, else the highest deprecated one, or `name@version`",
    examples: ["code-reviewer@1.0.0"],
  }),
};

/** Documents each text path as a separate operation, so that clients know the response type. */
function describeTexts(options: {
  id: string;
  of: string;
  path: string;
  params: TProperties;
}): DocumentedForm[] {
  const { id, of, path, params } = options;
  const form = (format: TextFormat): Omit<DocumentedForm, "id" | "summary"> => ({
    path: `${path}/{name}.${format}`,
    params,
    uncheckedQuery: {},
    response: {
      200: { description: "The text, as a file", files: { [READ_FORMATS[format].mediaType]: null } },
    },
    responseHeaders: FILE_HEADERS,
  });
  const sameName = "The name means the same as without the ending.";
  return [
    {
      ...form("md"),
      id: `${id}Markdown`,
      summary: `Get the rendered Markdown ${of}`,
      description: `As a coding agent loads it. Without a rendering, 404 with \`details.reason\` \`runtime\`. ${sameName}`,
    },
    {
      ...form("yaml"),
      id: `${id}Yaml`,
      summary: `Get the YAML source ${of}`,
      description: `As its author wrote it. ${sameName}`,
    },
  ];
}

export const getDefinition = operation(
  {
    ...READ,
    id: "getDefinition",
    path: "/api/v1/definitions/{type}/{name}",
    summary: "Get a definition",
    description:
      "`name` is the highest published version, else the highest deprecated one; `name@version` is that version. If several " +
      "organizations have a definition of this name (and version) that you can see, the order is: the key's organization, your " +
      "organizations, those with a published version, then the one published first. `Accept: text/markdown` or " +
      "`application/yaml`, or a path that ends in `.md` or `.yaml`, returns the rendered Markdown or the YAML source as a file. " +
      "These take no query parameters.",
    params: VersionOrId,
    uncheckedQuery: READ_QUERY,
    response: {
      200: { json: dataOf(Definition, "The definition"), orFile: true },
    },
    responseHeaders: DEPRECATION_HEADERS,
    documentedAs: [
      { id: "getDefinition", path: `${ADDRESS}/{name}`, summary: "Get a definition" },
      {
        id: "getOrgDefinition",
        path: `${ADDRESS}/@{orgSlug}/{name}`,
        summary: "Get a definition of an organization",
        description:
          "The same for a definition of this organization. Every path below `/definitions/{type}/{name}` takes `@org/name`.",
        params: OrgAddress,
      },
      ...describeTexts({ id: "getDefinition", of: "of a definition", path: ADDRESS, params: VersionOrId }),
      ...describeTexts({
        id: "getOrgDefinition",
        of: "of a definition of an organization",
        path: `${ADDRESS}/@{orgSlug}`,
        params: OrgAddress,
      }),
    ],
  },
  async ({ params, request, caller }, deps) => {
    const { name, ending } = splitEnding(params.name);
    const format = ending ?? acceptedFormat(request.headers.get("accept"));
    const address = parseReadAddress({ ...params, name });
    const parts = parseQuery(format ? {} : READ_QUERY, queryOf(request));
    const target = await findReadTarget(deps.sql, address, { caller, request });
    if (format) return replyText(deps, { target, format });
    return replyDefinition(deps, { target, parts: parts as QueryValues<typeof READ_QUERY>, request });
  },
);

async function replyDefinition(
  deps: OperationDeps,
  options: { target: ReadTarget; parts: QueryValues<typeof READ_QUERY>; request: Request },
) {
  const { target, parts, request } = options;
  const { includeYaml, includeRuntime, includeRefs, normalize } = parts;
  const text = normalize ? ("yaml" as const) : null;
  const shown = { includeYaml: includeYaml && !normalize, includeRuntime, text };
  const row = requireResolved(target, await resolveDefinitionText(deps.sql, target, shown));
  const headers = deprecationHeaders(row, deps.config.publicUrl);
  const { type, text: yaml } = row;
  const more: string[] = [];
  if (includeRefs) {
    const { viewer } = target;
    const refs = await resolveInTurn(deps, request, (tx, onStep) => listRefs(tx, row, { viewer, onStep }));
    more.push(JSON.stringify({ refs }));
  }
  if (yaml !== null)
    more.push(await readerWork(deps.documents, request).normalize({ type, yaml, includeYaml }));
  const data = more.length === 0 ? row.json : joinJson([row.json, ...more]);
  return reply(200, jsonText(`{"data":${data}}`), { headers: { ...headers, Vary: "Accept" } });
}

/** Replies with one text of the version as a file. Browsers save the untrusted text and never render it as a page. */
async function replyText(deps: OperationDeps, options: { target: ReadTarget; format: TextFormat }) {
  const { target } = options;
  const { contentType, text } = READ_FORMATS[options.format];
  const shown = { includeYaml: false, includeRuntime: false, text };
  const row = requireResolved(target, await resolveDefinitionText(deps.sql, target, shown));
  if (row.text === null) throw withoutMarkdown(row);
  const fileName = `${row.name}.${options.format}`;
  const headers = {
    ...deprecationHeaders(row, deps.config.publicUrl),
    Vary: "Accept",
    "Content-Type": contentType,
    "Repr-Digest": reprDigest(row.text),
    "Content-Disposition": contentDisposition({ ascii: fileName, full: fileName }),
  };
  return reply(200, row.text, { headers });
}

function withoutMarkdown({ type, name, version }: DefinitionTextRow): ApiError {
  const message = TEXTS.NOT_FOUND.markdown({ type, name, version });
  return new ApiError("NOT_FOUND", { message, details: { reason: "runtime", type, name } });
}

async function listRefs(
  sql: Sql,
  { id }: DefinitionTextRow,
  { viewer, onStep }: Pick<ReadTarget, "viewer"> & { onStep: OnStep },
) {
  const references = await listDefinitionReferences(sql, { definitionIds: [id], viewer });
  const resolved = await resolveReferences(sql, { references, viewer, onStep });
  return resolved.map(({ reference, target }) => ({
    type: reference.type,
    name: writtenName(reference),
    range: reference.range,
    context: reference.context,
    resolvedVersion: target?.version ?? null,
  }));
}

/**
 * Returns the headers `Deprecation` (RFC 9745) and, with a successor, `Link` (RFC 5829). A successor without an organization
 * belongs to the version's organization, even if another organization has a definition with that name.
 */
function deprecationHeaders(
  { type, deprecatedAt, successor, organization }: DefinitionTextRow,
  publicUrl: string,
): Record<string, string> {
  if (deprecatedAt === null) return {};
  const since = Math.floor(Date.parse(deprecatedAt) / 1000);
  if (successor === null) return { Deprecation: `@${since}` };
  const name = successor.startsWith("@") ? successor : `@${organization}/${successor}`;
  const url = `${publicUrl}/api/v1/definitions/${type}/${name}`;
  return { Deprecation: `@${since}`, Link: `<${url}>; rel="successor-version"` };
}

const ENDING = /^(.+)\.(md|yaml)$/s;

/**
 * Splits the extension off the name in a path: `reviewer@1.0.0.md` means `reviewer@1.0.0` as Markdown. No name, version or id
 * has such an extension, so addresses are unambiguous.
 */
export function splitEnding(name: string): { name: string; ending: TextFormat | null } {
  const [, bare, ending] = ENDING.exec(name) ?? [];
  if (bare === undefined) return { name, ending: null };
  return { name: bare, ending: ending === "md" ? "md" : "yaml" };
}

/**
 * Returns the text format that an `Accept` header prefers, or null for JSON. Wildcards mean JSON. The named type with the
 * highest weight wins. If weights are equal, the first one wins.
 */
export function acceptedFormat(accept: string | null): TextFormat | null {
  let best: { format: TextFormat | null; weight: number } = { format: null, weight: 0 };
  for (const { value, weight } of parseAcceptedValues(accept)) {
    const format = FORMATS.get(value);
    if (format !== undefined && weight > best.weight) best = { format, weight };
  }
  return best.format;
}

const FORMATS: ReadonlyMap<string, TextFormat | null> = new Map([
  ["application/json", null],
  [READ_FORMATS.md.mediaType, "md"],
  [READ_FORMATS.yaml.mediaType, "yaml"],
]);
