/** The bodies of POST and PUT. */
import { type Static, Type } from "@sinclair/typebox";
import {
  CHANGE_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TIERS,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import { EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { Nullable, oneOf } from "../http/schemas.ts";
import { Provenance } from "./provenance.ts";
import { ExpectedUpdatedAt } from "./require_state.ts";

export const CreateBody = Type.Object(
  {
    yaml: Type.String({ examples: [EXAMPLE_YAML] }),
    visibility: Type.Optional(oneOf(DEFINITION_VISIBILITIES)),
    provenance: Type.Optional(Nullable(Provenance)),
  },
  {
    title: "NewDefinition",
    additionalProperties: false,
    examples: [{ yaml: EXAMPLE_YAML, visibility: "public" }],
  },
);

export const UpdateBody = Type.Object(
  {
    yaml: Type.Optional(Type.String()),
    visibility: Type.Optional(oneOf(DEFINITION_VISIBILITIES)),
    displayName: Type.Optional(Type.String({ minLength: 1 })),
    description: Type.Optional(Type.String()),
    domain: Type.Optional(oneOf(DEFINITION_DOMAINS)),
    subdomain: Type.Optional(Type.String()),
    agentType: Type.Optional(oneOf(DEFINITION_AGENT_TYPES)),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    provenance: Type.Optional(Nullable(Provenance)),
    changeSummary: Type.Optional(Type.String({ maxLength: 2000 })),
    changeType: Type.Optional(oneOf(CHANGE_TYPES)),
    tier: Type.Optional(oneOf(DEFINITION_TIERS)),
    minSubscription: Type.Optional(
      Type.Unknown({ deprecated: true, description: "Ignored: older clients send it" }),
    ),
    expectedUpdatedAt: ExpectedUpdatedAt,
  },
  {
    title: "DefinitionUpdate",
    additionalProperties: false,
    examples: [
      { description: "Reviews a change before it is merged.", tags: ["review"], changeType: "patch" },
    ],
  },
);

export type CreateDefinition = Static<typeof CreateBody>;
export type UpdateDefinition = Static<typeof UpdateBody>;
