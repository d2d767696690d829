/** OpenAPI of the routes that render definitions again. */
import { FLAG, named, nullable, record, TEXT } from "../../../shared/json_schema.ts";
import { readsYaml } from "../../http/body/yaml_body.ts";
import { ORG_SLUG } from "../../openapi/parameters.ts";
import { dataResponse } from "../../openapi/responses.ts";
import { describe, failsWith } from "../../openapi/types.ts";
import { DOCUMENT_FAILURES, LINE_WRITE_FAILURES } from "../schemas.ts";
import {
  DEFINITIONS_TAG,
  dataAndWarnings,
  TYPE_PARAMETER,
  VERSION_NEEDED,
  VERSION_POSSIBLE,
} from "./operations.ts";

export const TRANSLATOR_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "getTranslatorVersion",
  summary: "Get the translator version",
  description:
    "The translator renders YAML to Markdown. Each definition has the `translatorVersion` that rendered it.",
  responses: {
    200: dataResponse(
      "Raised whenever the same YAML would render to another text",
      record({ translatorVersion: TEXT }),
      { translatorVersion: "1.0.0" },
    ),
  },
});

export const RETRANSLATE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "retranslateDefinition",
  summary: "Render a version again with the current translator",
  description:
    "Replaces `runtimeMd` if the current translator renders another text; with `createNewVersion`, the new text goes into a new " +
    "PATCH draft instead. The YAML stays the same. If the text is the same, or the document cannot be rendered, `changes` is " +
    "false and the stored text is kept.",
  parameters: [TYPE_PARAMETER, VERSION_NEEDED, ORG_SLUG],
  responses: {
    200: dataAndWarnings(
      "The outcome",
      named(
        "RetranslatedDefinition",
        record(
          {
            type: TEXT,
            name: TEXT,
            version: TEXT,
            translatorVersion: {
              ...nullable(TEXT),
              description: "If the document cannot be rendered, that of the stored text; null without one",
            },
            previousTranslatorVersion: nullable(TEXT),
            newVersionCreated: FLAG,
            newVersion: nullable(TEXT),
            changes: FLAG,
            translationError: {
              ...record({ reason: TEXT, path: TEXT }),
              description: "Why the document cannot be rendered; absent if it can",
            },
          },
          ["translationError"],
        ),
      ),
      {
        type: "agent",
        name: "reviewer",
        version: "1.0.0",
        translatorVersion: "1.0.0",
        previousTranslatorVersion: "1.0.0",
        newVersionCreated: false,
        newVersion: null,
        changes: false,
      },
    ),
  },
  ...failsWith(
    ...LINE_WRITE_FAILURES,
    ...(["UNPROCESSABLE_ENTITY", "INVALID_TRANSITION", "VERSION_EXISTS", "QUOTA_EXCEEDED"] as const),
  ),
});

export const UPGRADE_DETAIL = describe({
  tags: [DEFINITIONS_TAG],
  operationId: "upgradeDefinition",
  summary: "Upgrade a definition without Markdown to a new major version",
  description:
    "Creates a draft of the next MAJOR version from the YAML in the body; the service sets its version. The latest version " +
    "must have no `runtimeMd`, and the YAML must be renderable.",
  parameters: [TYPE_PARAMETER, VERSION_POSSIBLE, ORG_SLUG],
  responses: {
    201: dataAndWarnings(
      "The new draft",
      named(
        "UpgradedDefinition",
        record({
          type: TEXT,
          name: TEXT,
          version: TEXT,
          previousVersion: TEXT,
          translatorVersion: TEXT,
          upgraded: { ...FLAG, description: "Always true" },
        }),
      ),
      {
        type: "agent",
        name: "reviewer",
        version: "2.0.0",
        previousVersion: "1.0.0",
        translatorVersion: "1.0.0",
        upgraded: true,
      },
    ),
  },
  ...failsWith(
    ...LINE_WRITE_FAILURES,
    ...DOCUMENT_FAILURES,
    "ALREADY_DUAL_STORAGE",
    "TRANSLATION_FAILED",
    "QUOTA_EXCEEDED",
  ),
  ...readsYaml({}),
});
