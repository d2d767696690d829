/** Query parameters and OpenAPI of reading one definition. */
import { TEXT } from "../../../shared/json_schema.ts";
import { describeQuery, flag } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse, pathParameter } from "../../openapi/responses.ts";
import { alsoAt, describe, failsWith, type OtherPath } from "../../openapi/types.ts";
import { READ_FORMATS } from "../read_format.ts";
import {
  DEFINITION,
  DEFINITIONS_TAG,
  EXAMPLE_DEFINITION,
  NOT_MODIFIED,
  TYPE_PARAMETER,
  VERSION_OR_ID,
} from "./operations.ts";

export const READ_QUERY = {
  includeYaml: flag(true, "Include the YAML source"),
  includeRuntime: flag(true, "Include the rendered Markdown"),
  includeRefs: flag(false, "Include `refs`: the references in the YAML, and the version each resolves to"),
  normalize: flag(false, "Return the canonical YAML in `yaml`, and as an object in `normalized`"),
};

const HEADERS = {
  ETag: { description: "Changes with the response. Send it as `If-None-Match` to get 304", schema: TEXT },
  Deprecation: { description: "Time of deprecation (RFC 9745)", schema: TEXT },
  Link: { description: 'The successor of a deprecated version, rel="successor-version"', schema: TEXT },
};

const RESPONSES = {
  200: { ...dataResponse("The definition", DEFINITION, EXAMPLE_DEFINITION), headers: HEADERS },
  ...NOT_MODIFIED,
};

/** The texts of a definition, by the ending of the path. */
const TEXTS = [
  {
    ending: "md",
    word: "Markdown",
    summary: "rendered Markdown",
    description: "As a coding agent loads it. Without a rendering, 404 with `details.reason` `runtime`.",
  },
  { ending: "yaml", word: "Yaml", summary: "YAML source", description: "As its author wrote it." },
] as const;

const PATHS = [
  {
    path: "/api/v1/definitions/:type",
    operationId: "getDefinition",
    summary: "of a definition",
    parameters: [TYPE_PARAMETER, VERSION_OR_ID],
  },
  {
    path: "/api/v1/definitions/:type/@:orgSlug",
    operationId: "getOrgDefinition",
    summary: "of a definition of an organization",
    parameters: [
      TYPE_PARAMETER,
      pathParameter("orgSlug", "The organization's slug", "demo"),
      pathParameter(
        "name",
        "`name` for the highest published version, else the highest deprecated one, or `name@version`",
        "code-reviewer@1.0.0",
      ),
    ],
  },
] as const;

/** Each text is an operation of its own, so that a client knows what it gets. */
function describeTexts(): OtherPath[] {
  return PATHS.flatMap(({ path, operationId, summary, parameters }) =>
    TEXTS.map((text) => ({
      path: `${path}/{name}.${text.ending}`,
      detail: {
        operationId: `${operationId}${text.word}`,
        summary: `Get the ${text.summary} ${summary}`,
        description: `${text.description} The name means the same as without the ending.`,
        parameters: [...parameters, ORG_SLUG],
        responses: {
          200: {
            description: "The text, as a file",
            headers: {
              ...HEADERS,
              "Content-Disposition": { description: "`attachment` with a file name", schema: TEXT },
              "Repr-Digest": {
                description: "SHA-256 of the bytes as they are sent (RFC 9530)",
                schema: TEXT,
              },
            },
            content: { [READ_FORMATS[text.ending].mediaType]: { schema: TEXT } },
          },
          ...NOT_MODIFIED,
        },
      },
    })),
  );
}

const OTHER_PARAMETERS = [ORG_SLUG, ...describeQuery(READ_QUERY)];
const [LINE_PATH, ORG_PATH] = PATHS;

export const GET_DEFINITION_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getDefinition",
  summary: "Get a definition",
  description:
    "Without an organization, a name means the definition of the key's organization, then of your organizations, then the " +
    "one published first, among those you can see; of other organizations', one with a published version comes before one " +
    "whose versions are all deprecated. With a version, it is the first of these that has the version; without one, the " +
    "highest published version, else the highest deprecated one. `Accept: text/markdown` or `application/yaml`, or an address that ends in " +
    "`.md` or `.yaml`, returns the rendered Markdown or the YAML source as a file. These take no query parameters.",
  parameters: [...LINE_PATH.parameters, ...OTHER_PARAMETERS],
  responses: RESPONSES,
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
  ...alsoAt([
    {
      path: `${ORG_PATH.path}/:name`,
      detail: {
        operationId: ORG_PATH.operationId,
        summary: "Get a definition of an organization",
        description:
          "The same for a definition of this organization. Every path below `/definitions/{type}/{name}` takes `@org/name`.",
        parameters: [...ORG_PATH.parameters, ...OTHER_PARAMETERS],
      },
    },
    ...describeTexts(),
  ]),
});
