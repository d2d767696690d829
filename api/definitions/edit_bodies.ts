/** The bodies of POST and PUT. */
import { t } from "elysia";
import {
  CHANGE_TYPES,
  DEFINITION_AGENT_TYPES,
  DEFINITION_DOMAINS,
  DEFINITION_TIERS,
  DEFINITION_VISIBILITIES,
} from "../../shared/vocabulary.ts";
import { EXAMPLE_YAML } from "../../sql/definitions/fields.ts";
import { oneOf } from "../http/schemas.ts";
import { ExpectedUpdatedAt } from "./edit_conflict.ts";
import { Provenance } from "./provenance.ts";

export const CreateBody = t.Object(
  {
    yaml: t.String({ examples: [EXAMPLE_YAML] }),
    visibility: t.Optional(oneOf(DEFINITION_VISIBILITIES)),
    provenance: t.Optional(t.Nullable(Provenance)),
  },
  {
    title: "NewDefinition",
    additionalProperties: false,
    examples: [{ yaml: EXAMPLE_YAML, visibility: "public" }],
  },
);

export const UpdateBody = t.Object(
  {
    yaml: t.Optional(t.String()),
    visibility: t.Optional(oneOf(DEFINITION_VISIBILITIES)),
    displayName: t.Optional(t.String({ minLength: 1 })),
    description: t.Optional(t.String()),
    domain: t.Optional(oneOf(DEFINITION_DOMAINS)),
    subdomain: t.Optional(t.String()),
    agentType: t.Optional(oneOf(DEFINITION_AGENT_TYPES)),
    tags: t.Optional(t.Array(t.String(), { maxItems: 50 })),
    provenance: t.Optional(t.Nullable(Provenance)),
    changeSummary: t.Optional(t.String({ maxLength: 2000 })),
    changeType: t.Optional(oneOf(CHANGE_TYPES)),
    tier: t.Optional(oneOf(DEFINITION_TIERS)),
    minSubscription: t.Optional(
      t.Unknown({ deprecated: true, description: "Ignored: older clients send it" }),
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

export type CreateDefinition = typeof CreateBody.static;
export type UpdateDefinition = typeof UpdateBody.static;
