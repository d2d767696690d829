/** Query parameters and OpenAPI of reading one definition. */
import { TEXT } from "../../../shared/json_schema.ts";
import { describeQuery, flag } from "../../http/query.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse, pathParameter } from "../../openapi/responses.ts";
import { alsoAt, describe, failsWith } from "../../openapi/types.ts";
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

const RESPONSES = {
  200: {
    description: "The definition",
    content: {
      ...dataResponse("", DEFINITION, EXAMPLE_DEFINITION).content,
      "text/markdown": { schema: TEXT },
      "application/yaml": { schema: TEXT },
    },
    headers: {
      ETag: { description: "Changes with the response. Send it as `If-None-Match` to get 304", schema: TEXT },
      Deprecation: { description: "Time of deprecation (RFC 9745)", schema: TEXT },
      Link: { description: 'The successor of a deprecated version, rel="successor-version"', schema: TEXT },
    },
  },
  ...NOT_MODIFIED,
};

const OTHER_PARAMETERS = [ORG_SLUG, ...describeQuery(READ_QUERY)];

export const GET_DEFINITION_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getDefinition",
  summary: "Get a definition",
  description:
    "Without an organization, a name means the definition of the key's organization, then of your organizations, then the " +
    "one published first, among those you can see; of other organizations', one with a published version comes before one " +
    "whose versions are all deprecated. With a version, it is the first of these that has the version; without one, the " +
    "highest published version, else the highest deprecated one. `Accept: text/markdown` or `application/yaml`, or an address that ends in " +
    "`.md` or `.yaml`, returns the rendered Markdown or the YAML source as a file. These take no query parameters. Without " +
    "a rendering, `.md` is 404 with `details.reason` `runtime`.",
  parameters: [TYPE_PARAMETER, VERSION_OR_ID, ...OTHER_PARAMETERS],
  responses: RESPONSES,
  ...failsWith("NOT_FOUND", "ORG_ACCESS_DENIED"),
  ...alsoAt("/api/v1/definitions/:type/@:orgSlug/:name", {
    operationId: "getOrgDefinition",
    summary: "Get a definition of an organization",
    description:
      "The same for a definition of this organization. Every path below `/definitions/{type}/{name}` takes `@org/name`.",
    parameters: [
      TYPE_PARAMETER,
      pathParameter("orgSlug", "The organization's slug", "demo"),
      pathParameter(
        "name",
        "`name` for the highest published version, else the highest deprecated one, or `name@version`",
        "code-reviewer@1.0.0",
      ),
      ...OTHER_PARAMETERS,
    ],
  }),
});
