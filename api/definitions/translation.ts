/** GET /definitions/translation/version, POST …/retranslate and …/upgrade: the runtime text, made anew. */
import { Type } from "@sinclair/typebox";
import { TRANSLATOR_VERSION } from "../../shared/definitions/translate/translate.ts";
import { EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { operation, reply } from "../http/operation.ts";
import { data, Nullable, Text } from "../http/schemas.ts";
import { parseAddress, parseVersionAddress } from "./address.ts";
import { findLineWriter } from "./find_writable.ts";
import { retranslateVersion } from "./retranslate.ts";
import {
  DOCUMENT_FAILURES,
  dataAndWarnings,
  LINE_WRITE_FAILURES,
  VersionNeeded,
  VersionPossible,
} from "./schemas.ts";
import { upgradeVersion } from "./upgrade.ts";

const BASE = { method: "POST", access: "caller", tag: "Definitions", usesOrg: true } as const;

export const getTranslatorVersion = operation(
  {
    id: "getTranslatorVersion",
    method: "GET",
    path: "/api/v1/definitions/translation/version",
    access: "public",
    tag: "Definitions",
    summary: "Get the translator version",
    description:
      "The translator renders YAML to Markdown. Each definition has the `translatorVersion` that rendered it.",
    response: {
      200: data(
        { translatorVersion: Type.String({ examples: ["1.0.0"] }) },
        "Raised whenever the same YAML would render to another text",
      ),
    },
  },
  async () => reply(200, { data: { translatorVersion: TRANSLATOR_VERSION } }),
);

const Retranslation = Type.Object(
  { createNewVersion: Type.Optional(Type.Boolean()) },
  { title: "Retranslation", additionalProperties: false, examples: [{ createNewVersion: true }] },
);
const RetranslatedDefinition = Type.Object(
  {
    type: Text,
    name: Text,
    version: Text,
    translatorVersion: Nullable(Text, {
      description: "If the document cannot be rendered, that of the stored text; null without one",
    }),
    previousTranslatorVersion: Nullable(Text),
    newVersionCreated: Type.Boolean(),
    newVersion: Nullable(Text),
    changes: Type.Boolean(),
    translationError: Type.Optional(
      Type.Object(
        { reason: Text, path: Text },
        { description: "Why the document cannot be rendered; absent if it can" },
      ),
    ),
  },
  {
    title: "RetranslatedDefinition",
    examples: [
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
    ],
  },
);

export const retranslateDefinition = operation(
  {
    ...BASE,
    id: "retranslateDefinition",
    path: "/api/v1/definitions/{type}/{name}/retranslate",
    summary: "Render a version again with the current translator",
    description:
      "Replaces `runtimeMd` if the current translator renders another text; with `createNewVersion`, the new text goes into a new " +
      "PATCH draft instead. The YAML stays the same. If the text is the same, or the document cannot be rendered, `changes` is " +
      "false and the stored text is kept.",
    params: VersionNeeded,
    body: Retranslation,
    response: { 200: dataAndWarnings(RetranslatedDefinition, "The outcome") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...(["UNPROCESSABLE_ENTITY", "INVALID_TRANSITION", "VERSION_EXISTS", "QUOTA_EXCEEDED"] as const),
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const asked = parseVersionAddress(params);
    const { writer, address } = await findLineWriter(deps.sql, { address: asked, caller, request });
    const { createNewVersion = false } = body;
    return reply(200, await retranslateVersion(deps, { writer, address, createNewVersion }));
  },
);

const Upgrade = Type.Object(
  { yaml: Type.String() },
  { title: "Upgrade", additionalProperties: false, examples: [{ yaml: EXAMPLE_YAML }] },
);

const UpgradedDefinition = Type.Object(
  {
    type: Text,
    name: Text,
    version: Text,
    previousVersion: Text,
    translatorVersion: Text,
    upgraded: Type.Boolean({ description: "Always true" }),
  },
  {
    title: "UpgradedDefinition",
    examples: [
      {
        type: "agent",
        name: "reviewer",
        version: "2.0.0",
        previousVersion: "1.0.0",
        translatorVersion: "1.0.0",
        upgraded: true,
      },
    ],
  },
);

export const upgradeDefinition = operation(
  {
    ...BASE,
    id: "upgradeDefinition",
    path: "/api/v1/definitions/{type}/{name}/upgrade",
    summary: "Upgrade a definition without Markdown to a new major version",
    description:
      "Creates a draft of the next MAJOR version from the YAML in the body; the service sets its version. The latest version " +
      "must have no `runtimeMd`, and the YAML must be renderable.",
    params: VersionPossible,
    body: Upgrade,
    yamlQuery: {},
    response: { 201: dataAndWarnings(UpgradedDefinition, "The new draft") },
    fails: [
      ...LINE_WRITE_FAILURES,
      ...DOCUMENT_FAILURES,
      "ALREADY_DUAL_STORAGE",
      "TRANSLATION_FAILED",
      "QUOTA_EXCEEDED",
    ],
  },
  async ({ params, body, caller, request }, deps) => {
    const asked = parseAddress(params);
    const { writer, address } = await findLineWriter(deps.sql, { address: asked, caller, request });
    return reply(201, await upgradeVersion(deps, { writer, address, yaml: body.yaml }));
  },
);
