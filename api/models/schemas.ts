/** Schemas of models, providers and aliases in the API. */
import { type Static, Type } from "@sinclair/typebox";
import { each, Instant, listOf, Nullable, oneOf, Text } from "../../shared/schemas.ts";
import {
  MODEL_ALIAS_SCOPES,
  MODEL_CAPABILITIES,
  MODEL_STATUSES,
  MODEL_TIERS,
} from "../../shared/vocabulary.ts";
import { Cost } from "./price_json.ts";

/** Settings common to operations that read the catalog. */
export const CATALOG_READ = {
  method: "GET",
  access: "public",
  tag: "Model catalog",
  conditional: true,
} as const;

export const ModelKeyFields = {
  provider: Type.String({ examples: ["openai"] }),
  modelId: Type.String({ examples: ["gpt-5"] }),
};

const Tokens = Type.Integer({ minimum: 1 });
const Day = Type.String({ format: "date" });
const Url = Type.String({ format: "uri" });

const SHARED_FIELDS = {
  ...ModelKeyFields,
  name: Text,
  family: Nullable(Text, { description: "Null when unknown" }),
  tier: oneOf(MODEL_TIERS, {
    description: "Derived: `reasoning` from the family and id, the others from the price",
  }),
  status: oneOf(MODEL_STATUSES),
  capabilities: Type.Object(each(MODEL_CAPABILITIES, Type.Boolean()), {
    description:
      "`streaming` is derived from the modalities and the id. Any other capability is true only if the source says so; " +
      "false means no, or that the source does not say: see `capabilitiesStated`",
  }),
  capabilitiesStated: listOf(oneOf(MODEL_CAPABILITIES), {
    description: "The capabilities that the source states, as true or false",
  }),
  limits: Nullable(
    Type.Object({
      context: Type.Optional(Tokens),
      input: Type.Optional(Tokens),
      output: Type.Optional(Tokens),
    }),
    {
      description:
        "Tokens; an unknown limit is omitted. `input` is the largest prompt, where the source limits it",
    },
  ),
  cost: Nullable(Cost, {
    description:
      "USD per million tokens; an unknown price is omitted. A tier applies to requests with more than `contextOver` " +
      "tokens of context; prices it omits stay the same",
  }),
  releaseDate: Nullable(Day),
  goneAt: Type.Optional(
    Instant({ description: "When the source stopped listing the model; only on such models" }),
  ),
  staleSince: Type.Optional(
    Instant({
      description:
        "Since when the source's row of the model cannot be read; only on such models, which stay as they were",
    }),
  ),
};

const EXAMPLE_SUMMARY = {
  provider: "openai",
  modelId: "gpt-5",
  name: "GPT-5",
  family: "gpt",
  tier: "standard",
  status: "available",
  capabilities: {
    vision: true,
    tools: true,
    streaming: true,
    reasoning: true,
    structuredOutput: true,
    attachment: true,
  },
  capabilitiesStated: ["vision", "tools", "reasoning", "structuredOutput", "attachment"],
  limits: { context: 400_000, input: 272_000, output: 128_000 },
  cost: { input: 1.25, output: 10, cacheRead: 0.125 },
  releaseDate: "2025-08-07",
};

export const ModelSummary = Type.Object(SHARED_FIELDS, {
  title: "ModelSummary",
  examples: [EXAMPLE_SUMMARY],
});
export type ModelSummary = Static<typeof ModelSummary>;

export const Model = Type.Object(
  {
    ...SHARED_FIELDS,
    description: Nullable(Text, { description: "The source's own; null if it has none" }),
    providerModelId: Text,
    modalities: Type.Object({ input: listOf(Text), output: listOf(Text) }),
    knowledgeCutoff: Nullable(Day),
    openWeights: Type.Boolean(),
    logoUrl: Nullable(Url),
    pricesKnownSince: Instant({
      description: "The first known instant of its prices; `asOf` reaches back to it",
    }),
    pricesFrom: Type.Optional(
      Instant({
        description: "When the prices came into effect, as far as they are known; only with `asOf`",
      }),
    ),
    syncedAt: Instant({ description: "When the catalog was last compared with its source" }),
  },
  {
    title: "Model",
    examples: [
      {
        ...EXAMPLE_SUMMARY,
        description: null,
        providerModelId: "gpt-5",
        modalities: { input: ["text", "image"], output: ["text"] },
        knowledgeCutoff: "2024-09-30",
        openWeights: false,
        logoUrl: "https://models.dev/logos/openai.svg",
        pricesKnownSince: "2025-08-07T17:59:07.000Z",
        syncedAt: "2026-11-20T10:00:00.000Z",
      },
    ],
  },
);
export type Model = Static<typeof Model>;

export const Provider = Type.Object(
  {
    id: Text,
    name: Text,
    status: Type.Literal("active"),
    logoUrl: Nullable(Url),
    docUrl: Nullable(Url, { description: "The provider's documentation; null when unknown" }),
    apiUrl: Type.Optional(Type.String({ format: "uri", description: "Omitted when unknown" })),
  },
  {
    title: "Provider",
    examples: [
      {
        id: "openai",
        name: "OpenAI",
        status: "active",
        logoUrl: "https://models.dev/logos/openai.svg",
        docUrl: "https://platform.openai.com/docs/models",
      },
    ],
  },
);
export type Provider = Static<typeof Provider>;

export const CatalogOrigin = Type.Object(
  {
    source: Nullable(Text, {
      description:
        "`bundled` (the copy that comes with the service), `file`, or the host it was downloaded from",
    }),
    dataDate: Nullable(Day, {
      description: "The newest update in the data: how old the catalog is. Null when unknown",
    }),
  },
  { title: "CatalogOrigin", examples: [{ source: "models.dev", dataDate: "2026-11-19" }] },
);
export type CatalogOrigin = Static<typeof CatalogOrigin>;

export const Alias = Type.Object(
  {
    alias: Type.String({ examples: ["gpt"] }),
    ...ModelKeyFields,
    scope: Type.Literal(MODEL_ALIAS_SCOPES[0]),
    deprecated: Type.Boolean({
      description: "Its model is deprecated, or the alias is kept only for existing users",
    }),
  },
  { title: "Alias" },
);
export type Alias = Static<typeof Alias>;
